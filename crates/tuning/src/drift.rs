//! Whether a plan still fits its machine: made again there, it must come to the same.

use crate::setting::shown;
use crate::{Change, Plan, PredictedRefusal, Setting, balancer};
use std::cell::LazyCell;
use whylate_host::FsRoot;

/// A change that is not as it was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanDrift {
    /// Of which setting, by name.
    pub setting: String,
    /// What was planned, `now -> then`; `None`: no change.
    pub planned: Option<String>,
    /// What would be planned now.
    pub now: Option<String>,
}

/// What differs between a plan and the same plan made now on the machine with these files, in the order of the plans.
/// Four things are no difference: what has been set as planned already; a thread that is in one of the plans alone, as
/// threads come and go; what one of the plans knows the kernel to refuse; and where a running irqbalance has put a single interrupt, which it does every ten seconds.
pub fn drifted(planned: &Plan, now: &Plan, tree: &FsRoot) -> Vec<PlanDrift> {
    let change_words =
        |change: &Change| format!("{} -> {}", shown(change.now.as_deref()), shown(change.then.as_deref()));
    let new = now.changes.iter().filter(|change| change_of(planned, &change.setting).is_none());
    let settings = planned.changes.iter().chain(new).map(|change| &change.setting);
    let balanced = LazyCell::new(|| balancer::runs(tree));
    let mut all = Vec::new();
    for setting in settings {
        let (first, second) = (change_of(planned, setting), change_of(now, setting));
        let fits = match (first, second) {
            (Some(first), Some(second)) => first.now == second.now && first.then == second.then,
            (Some(first), None) => is_of_thread(setting) || is_made(first, now) || is_predicted(first, now),
            (None, Some(second)) => is_of_thread(setting) || is_predicted(second, planned),
            (None, None) => true,
        };
        let is_excused = is_balanced(setting) && *balanced;
        if !fits && !is_excused {
            let (planned, now) = (first.map(change_words), second.map(change_words));
            all.push(PlanDrift { setting: setting.to_string(), planned, now });
        }
    }
    all
}

fn change_of<'a>(plan: &'a Plan, setting: &Setting) -> Option<&'a Change> {
    plan.changes.iter().find(|change| change.setting == *setting)
}

/// Whether irqbalance sets it: a single interrupt's CPUs, which those of its thread follow.
fn is_balanced(setting: &Setting) -> bool {
    match setting {
        Setting::Tunable { path } => balancer::is_of_one_interrupt(path),
        Setting::ThreadCpus { thread } => thread.name.starts_with("[irq/"),
        _ => false,
    }
}

/// Whether a setting is as a change would make it.
fn is_made(change: &Change, now: &Plan) -> bool {
    now.unchanged.iter().any(|kept| kept.setting == change.setting && kept.value == change.then)
}

/// Whether a change is one that the other plan knows to be refused: whether that is known depends on the kernel's
/// messages, and on the right to read them.
fn is_predicted(change: &Change, other: &Plan) -> bool {
    let is_same = |own: &PredictedRefusal| {
        own.setting == change.setting && own.then == change.then && own.now == change.now
    };
    other.predicted.iter().any(is_same)
}

fn is_of_thread(setting: &Setting) -> bool {
    matches!(setting, Setting::ThreadPolicy { .. } | Setting::ThreadCpus { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ThreadId, Unchanged};
    use whylate_profiles::Reasons;

    fn plan(changes: &[(&str, &str, &str)]) -> Plan {
        let change = |&(path, now, then): &(&str, &str, &str)| Change {
            setting: Setting::Tunable { path: path.to_owned() },
            now: Some(now.to_owned()),
            then: Some(then.to_owned()),
            reasons: Reasons::default(),
            origin: String::new(),
            optional: false,
            prediction: None,
            note: None,
        };
        Plan { changes: changes.iter().map(change).collect(), ..Plan::default() }
    }

    fn no_balancer() -> FsRoot {
        FsRoot::memory(&[("/proc/7/comm", "sh\n")])
    }

    #[test]
    fn what_is_as_planned_already_is_no_drift() {
        let kept = |path: &str, value: &str| Unchanged {
            setting: Setting::Tunable { path: path.to_owned() },
            value: Some(value.to_owned()),
            note: None,
        };
        let planned = plan(&[("/a", "1", "2"), ("/b", "1", "2")]);
        let now = |value| Plan { unchanged: vec![kept("/a", value)], ..plan(&[("/b", "1", "2")]) };
        assert_eq!(drifted(&planned, &now("2"), &no_balancer()), []);
        // It has a value that another program set, not this plan's.
        assert_eq!(drifted(&planned, &now("3"), &no_balancer()).len(), 1);
    }

    #[test]
    fn where_irqbalance_puts_an_interrupt_is_no_drift() {
        let irq = "/proc/irq/24/smp_affinity_list";
        let of = |path: &str, comm: &str, planned: &[&str], now: &[&str]| {
            let made = |nows: &[&str]| {
                let changes: Vec<_> = nows.iter().map(|now| (path, *now, "0-1")).collect();
                plan(&changes)
            };
            drifted(&made(planned), &made(now), &FsRoot::memory(&[("/proc/7/comm", comm)])).len()
        };
        // Whether the plan moves it, and whether it would now.
        for (planned, now) in [(&["0-3"][..], &["3"][..]), (&["0-3"], &[]), (&[], &["3"])] {
            assert_eq!(of(irq, "irqbalance\n", planned, now), 0, "{planned:?} {now:?}");
            assert_eq!(of(irq, "sh\n", planned, now), 1, "{planned:?} {now:?}");
        }
        assert_eq!(of("/proc/irq/default_smp_affinity", "irqbalance\n", &["0-3"], &["3"]), 1);
    }

    #[test]
    fn threads_may_come_and_go_but_not_change() {
        let named = |name: &str, threads: &[(i32, &str)]| {
            let change = |&(tid, now): &(i32, &str)| Change {
                setting: Setting::ThreadCpus {
                    thread: ThreadId { pid: tid, tid, started: 1, name: name.to_owned() },
                },
                now: Some(now.to_owned()),
                then: Some("0".to_owned()),
                reasons: Reasons::default(),
                origin: String::new(),
                optional: false,
                prediction: None,
                note: None,
            };
            Plan { changes: threads.iter().map(change).collect(), ..Plan::default() }
        };
        let of = |threads: &[(i32, &str)]| named("a", threads);
        assert_eq!(
            drifted(&of(&[(1, "0-1"), (2, "0-1")]), &of(&[(2, "0-1"), (3, "0-1")]), &no_balancer()),
            []
        );
        assert_eq!(drifted(&of(&[(1, "0-1")]), &of(&[(1, "0-3")]), &no_balancer()).len(), 1);
        // An interrupt's thread goes with it.
        let irq = |now| named("[irq/24-eth0]", &[(1, now)]);
        let balanced = FsRoot::memory(&[("/proc/7/comm", "irqbalance\n")]);
        assert_eq!(drifted(&irq("0-1"), &irq("3"), &balanced), []);
        assert_eq!(drifted(&irq("0-1"), &irq("3"), &no_balancer()).len(), 1);
    }

    #[test]
    fn a_plan_fits_or_says_where_not() {
        let first = plan(&[("/a", "1", "2"), ("/b", "1", "2"), ("/c", "", "2")]);
        assert_eq!(drifted(&first, &first, &no_balancer()), []);
        let now = plan(&[("/a", "1", "2"), ("/c", "3", "2"), ("/d", "1", "2")]);
        let found = drifted(&first, &now, &no_balancer());
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
