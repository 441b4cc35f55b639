//! The comparison of two states.

use super::{MachineState, volatile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The differences of two states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// How many values were compared.
    pub compared: usize,
    /// Values that differ.
    pub differences: Vec<ValueDifference>,
    /// Values that are allowed to differ: see [`VOLATILE`](super::VOLATILE).
    pub by_themselves: Vec<ValueDifference>,
}

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueDifference {
    /// Its group.
    pub group: String,
    /// Its name there.
    pub name: String,
    /// The value before; `None`: it was missing.
    pub before: Option<String>,
    /// The value after; `None`: it is missing.
    pub after: Option<String>,
    /// Why it may differ; `None`: it may not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Compares all values of both.
pub fn compare(before: &MachineState, after: &MachineState) -> Comparison {
    let mut comparison = Comparison::default();
    let groups: BTreeSet<&String> = before.groups.keys().chain(after.groups.keys()).collect();
    for group in groups {
        let (old, new) = (before.groups.get(group), after.groups.get(group));
        let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(|values| values.keys()).collect();
        for name in names {
            let (old, new) = (before.value(group, name), after.value(group, name));
            let why = volatile::why(group, name, [before, after]);
            comparison.compared += usize::from(why.is_none());
            if old != new {
                let difference = ValueDifference {
                    group: group.clone(),
                    name: name.clone(),
                    before: old.map(str::to_owned),
                    after: new.map(str::to_owned),
                    why: why.map(str::to_owned),
                };
                match why {
                    None => comparison.differences.push(difference),
                    Some(_) => comparison.by_themselves.push(difference),
                }
            }
        }
    }
    comparison
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn state(values: &[(&str, &str, &str)]) -> MachineState {
        let mut state = MachineState::default();
        for (group, name, value) in values {
            let group = state.groups.entry((*group).to_owned()).or_default();
            group.insert((*name).to_owned(), (*value).to_owned());
        }
        state
    }

    #[test]
    fn what_is_new_gone_or_changed_differs() {
        let before = state(&[
            ("kernel", "/proc/cmdline", "quiet"),
            ("kernel", "/proc/sys/fs/file-nr", "1"),
            ("files", "/etc/gone", "file"),
            ("files", "/etc/same", "file"),
        ]);
        let after = state(&[
            ("kernel", "/proc/cmdline", "quiet isolcpus=1"),
            ("kernel", "/proc/sys/fs/file-nr", "2"),
            ("files", "/etc/same", "file"),
            ("units", "new.service runs", "loaded active"),
        ]);
        let found = compare(&before, &after);
        let names: Vec<&str> = found.differences.iter().map(|difference| difference.name.as_str()).collect();
        assert_eq!(names, ["/etc/gone", "/proc/cmdline", "new.service runs"]);
        assert_eq!((found.compared, found.by_themselves.len()), (4, 1));
        assert!(found.by_themselves[0].why.is_some());
        assert_eq!(found.differences[0].after, None);
    }

    proptest! {
        #[test]
        fn only_what_was_changed_differs(
            values in prop::collection::btree_map("[a-z]{1,4}", "[a-z]{0,3}", 0..20),
            changed in prop::collection::btree_map("[a-z]{1,4}", "[A-Z]{1,3}", 0..6),
        ) {
            let before = MachineState { groups: BTreeMap::from([("files".to_owned(), values.clone())]) };
            let mut later = values;
            later.extend(changed.clone());
            let after = MachineState { groups: BTreeMap::from([("files".to_owned(), later)]) };
            prop_assert_eq!(compare(&before, &before.clone()).differences, vec![]);
            let names: Vec<String> =
                compare(&before, &after).differences.into_iter().map(|difference| difference.name).collect();
            prop_assert_eq!(names, changed.keys().cloned().collect::<Vec<_>>());
        }
    }
}
