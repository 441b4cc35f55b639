//! Whether a plan still fits its machine: made again there, it must be the same.

use crate::{Plan, Setting};

/// A change that is not as it was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drifted {
    /// Of which setting, by name.
    pub setting: String,
    /// What was planned, `now -> then`; `None`: no change.
    pub planned: Option<String>,
    /// What would be planned now.
    pub now: Option<String>,
}

/// What differs between a plan and the same plan made now, in the order of the plans. Threads come and go: one that
/// is in one of the plans alone is no difference.
pub fn drifted(planned: &Plan, now: &Plan) -> Vec<Drifted> {
    let shown = |plan: &Plan, setting: &Setting| {
        let change = plan.changes.iter().find(|change| change.setting == *setting)?;
        let side = |value: &Option<String>| match value.as_deref() {
            None => "absent".to_owned(),
            Some("") => "(empty)".to_owned(),
            Some(value) => value.to_owned(),
        };
        Some(format!("{} -> {}", side(&change.now), side(&change.then)))
    };
    let new =
        now.changes.iter().filter(|change| !planned.changes.iter().any(|own| own.setting == change.setting));
    let settings = planned.changes.iter().chain(new).map(|change| &change.setting);
    let all = settings.map(|setting| {
        let (planned, now) = (shown(planned, setting), shown(now, setting));
        (setting, Drifted { setting: setting.to_string(), planned, now })
    });
    all.filter(|(setting, drifted)| {
        let in_both = drifted.planned.is_some() && drifted.now.is_some();
        drifted.planned != drifted.now && (in_both || !is_of_thread(setting))
    })
    .map(|(_, drifted)| drifted)
    .collect()
}

fn is_of_thread(setting: &Setting) -> bool {
    matches!(setting, Setting::ThreadPolicy { .. } | Setting::ThreadCpus { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Reasons, ThreadId};

    fn plan(changes: &[(&str, &str, &str)]) -> Plan {
        let change = |&(path, now, then): &(&str, &str, &str)| Change {
            setting: Setting::Knob { path: path.to_owned() },
            now: Some(now.to_owned()),
            then: Some(then.to_owned()),
            reasons: Reasons::default(),
            origin: String::new(),
            note: None,
        };
        Plan { changes: changes.iter().map(change).collect(), ..Plan::default() }
    }

    #[test]
    fn threads_may_come_and_go_but_not_change() {
        let of = |threads: &[(i32, &str)]| {
            let change = |&(tid, now): &(i32, &str)| Change {
                setting: Setting::ThreadCpus {
                    thread: ThreadId { pid: tid, tid, started: 1, name: "a".to_owned() },
                },
                now: Some(now.to_owned()),
                then: Some("0".to_owned()),
                reasons: Reasons::default(),
                origin: String::new(),
                note: None,
            };
            Plan { changes: threads.iter().map(change).collect(), ..Plan::default() }
        };
        assert_eq!(drifted(&of(&[(1, "0-1"), (2, "0-1")]), &of(&[(2, "0-1"), (3, "0-1")])), []);
        assert_eq!(drifted(&of(&[(1, "0-1")]), &of(&[(1, "0-3")])).len(), 1);
    }

    #[test]
    fn a_plan_fits_or_says_where_not() {
        let first = plan(&[("/a", "1", "2"), ("/b", "1", "2"), ("/c", "", "2")]);
        assert_eq!(drifted(&first, &first), []);
        let now = plan(&[("/a", "1", "2"), ("/c", "3", "2"), ("/d", "1", "2")]);
        let found = drifted(&first, &now);
        let lines: Vec<_> = found
            .iter()
            .map(|one| (one.setting.as_str(), one.planned.as_deref(), one.now.as_deref()))
            .collect();
        assert_eq!(
            lines,
            [
                ("/b", Some("1 -> 2"), None),
                ("/c", Some("(empty) -> 2"), Some("3 -> 2")),
                ("/d", None, Some("1 -> 2"))
            ]
        );
    }
}
