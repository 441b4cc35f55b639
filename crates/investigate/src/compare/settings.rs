//! What differs in the machine between two runs.

use std::collections::BTreeMap;
use whylate_stats::Run;

/// A setting that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingShift {
    /// Its name.
    pub name: String,
    /// Before; `None`: not known, or not there.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// The settings that differ, by name; `None` where those of one run are not known.
pub(super) fn shifts(before: &Run, after: &Run) -> Option<Vec<SettingShift>> {
    if before.machine.is_empty() || after.machine.is_empty() {
        return None;
    }
    let own: BTreeMap<&String, &String> = before.machine.iter().map(|(name, value)| (name, value)).collect();
    let other: BTreeMap<&String, &String> = after.machine.iter().map(|(name, value)| (name, value)).collect();
    let names = own.keys().chain(other.keys().filter(|name| !own.contains_key(*name)));
    let value = |of: &BTreeMap<&String, &String>, name| of.get(name).map(|value| (*value).clone());
    let mut shifts: Vec<SettingShift> = names
        .map(|name| SettingShift {
            name: (*name).clone(),
            before: value(&own, name),
            after: value(&other, name),
        })
        .filter(|shift| shift.before != shift.after)
        .collect();
    shifts.sort_by(|a, b| a.name.cmp(&b.name));
    Some(shifts)
}
