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

/// The settings of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Those that differ, by name.
    pub differ: Vec<SettingShift>,
    /// So many are known of both.
    pub compared: usize,
}

/// `None` where the settings of one run are not known. Of runs of two tools only those are compared that both know:
/// each asks for others.
pub(super) fn shifts(before: &Run, after: &Run) -> Option<Settings> {
    if before.machine.is_empty() || after.machine.is_empty() {
        return None;
    }
    let own: BTreeMap<&String, &String> = before.machine.iter().map(|(name, value)| (name, value)).collect();
    let other: BTreeMap<&String, &String> = after.machine.iter().map(|(name, value)| (name, value)).collect();
    let compared = own.keys().filter(|name| other.contains_key(*name)).count();
    if compared == 0 {
        return None;
    }
    let of_one_tool = before.tool == after.tool;
    let asked = |name: &&&String| of_one_tool || (own.contains_key(**name) && other.contains_key(**name));
    let names = own.keys().chain(other.keys().filter(|name| !own.contains_key(*name))).filter(asked);
    let value = |of: &BTreeMap<&String, &String>, name| of.get(name).map(|value| (*value).clone());
    let mut differ: Vec<SettingShift> = names
        .map(|name| SettingShift {
            name: (*name).clone(),
            before: value(&own, name),
            after: value(&other, name),
        })
        .filter(|shift| shift.before != shift.after)
        .collect();
    differ.sort_by(|a, b| a.name.cmp(&b.name));
    Some(Settings { differ, compared })
}
