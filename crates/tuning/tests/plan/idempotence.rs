//! Arbitrary plans: once made, they plan no further change.

use crate::machine::{Files, machine};
use crate::{changes, cpus_of, desired_setting, knob, parameter, planned, policy_of};
use proptest::prelude::*;
use whylate_profiles::{DesiredSetting, Selector, tunable};
use whylate_tuning::{Plan, Setting};

/// The machine after the changes of a plan.
fn applied(files: &Files, plan: &Plan) -> Files {
    let mut files = files.clone();
    for change in &plan.changes {
        let then = change.then.clone().unwrap_or_default();
        match &change.setting {
            Setting::Tunable { path } => {
                files.insert(path.clone(), format!("{}\n", tunable::written(path, &then)));
            }
            Setting::ThreadCpus { thread } => {
                let status = format!("/proc/{}/task/{}/status", thread.pid, thread.tid);
                files.insert(status, format!("Cpus_allowed_list:\t{then}\n"));
            }
            Setting::ThreadPolicy { thread } => {
                let path = format!("/proc/{}/task/{}/stat", thread.pid, thread.tid);
                let (policy, number) = then.split_once(' ').expect("a policy with its number");
                let raw = whylate_base::Policy::from_name(policy).expect("a policy").raw();
                let stat = files[&path].clone();
                let mut fields: Vec<String> = stat.trim_end().split(' ').map(str::to_owned).collect();
                let fair = policy == "other";
                fields[18] = if fair { number.to_owned() } else { fields[18].clone() };
                fields[39] = if fair { "0".to_owned() } else { number.to_owned() };
                fields[40] = raw.to_string();
                files.insert(path, format!("{}\n", fields.join(" ")));
            }
            Setting::Parameter { name } => {
                let grub = files["/boot/grub/grub.cfg"].clone();
                let kept: Vec<&str> =
                    grub.split(' ').filter(|word| !word.starts_with(&format!("{name}="))).collect();
                let grub = kept.join(" ").replace(" ro ", &format!(" ro {name}={then} "));
                files.insert("/boot/grub/grub.cfg".to_owned(), grub);
            }
            Setting::UnitActive { .. } => {
                files.remove("/sys/fs/cgroup/system.slice/irqbalance.service/cgroup.events");
            }
            Setting::Partition { group } => {
                let (kind, cpus) = then.split_once(' ').expect("a partition");
                files.insert(format!("/sys/fs/cgroup/{group}/cpuset.cpus.partition"), format!("{kind}\n"));
                files.insert(format!("/sys/fs/cgroup/{group}/cpuset.cpus"), format!("{cpus}\n"));
            }
            other => panic!("{other} is not simulated"),
        }
    }
    files
}

fn list() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["0", "0-1", "1,3", "2-3", "0-3"]).prop_map(str::to_owned)
}

fn some_wish() -> impl Strategy<Value = DesiredSetting> {
    let names = || prop::sample::select(vec!["*", "[*", "app", "[ktimers/*]", "a*"]);
    prop_oneof![
        (prop::sample::select(vec!["kernel/timer_migration", "vm/swappiness", "no/such"]), 0u32..3)
            .prop_map(|(name, value)| knob(&format!("/proc/sys/{name}"), &value.to_string())),
        list().prop_map(|cpus| knob("/proc/irq/default_smp_affinity", &cpus)),
        list().prop_map(|cpus| desired_setting(Selector::Irqs, &cpus)),
        (names(), list()).prop_map(|(named, cpus)| cpus_of(named, &cpus)),
        (names(), prop::sample::select(vec!["fifo 1", "rr 7", "other 3", "other"]))
            .prop_map(|(named, policy)| policy_of(named, policy)),
        (prop::sample::select(vec!["isolcpus", "nohz_full", "skew_tick"]), list())
            .prop_map(|(name, value)| parameter(name, &value)),
        list().prop_map(|cpus| desired_setting(
            Selector::Partition { group: "rt".to_owned() },
            &format!("isolated {cpus}")
        )),
        Just(desired_setting(Selector::UnitActive { unit: "irqbalance.service".to_owned() }, "inactive")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What a plan has made is as it wishes.
    #[test]
    fn what_was_planned_and_made_needs_no_change(asked in prop::collection::vec(some_wish(), 1..8), runs: bool) {
        let mut files = machine();
        if runs {
            let path = "/sys/fs/cgroup/system.slice/irqbalance.service/cgroup.events";
            files.insert(path.to_owned(), "populated 1\n".to_owned());
        }
        // No two wishes have the same aim.
        let mut selectors = Vec::new();
        let asked: Vec<DesiredSetting> = asked
            .into_iter()
            .filter(|desired_setting| !selectors.contains(&desired_setting.selector) && { selectors.push(desired_setting.selector.clone()); true })
            .collect();
        let first = planned(&files, asked.clone());
        let settings: Vec<&Setting> = first.changes.iter().map(|change| &change.setting).collect();
        prop_assert!(settings.iter().enumerate().all(|(at, setting)| !settings[..at].contains(setting)));
        let again = planned(&applied(&files, &first), asked);
        prop_assert_eq!(changes(&again), Vec::<String>::new());
        // Where a second wish has taken a thread away from the first one's CPUs, it now counts as put there.
        let others = |plan: &Plan| {
            plan.skipped.iter().filter(|left| !left.what.starts_with("CPUs of")).cloned().collect::<Vec<_>>()
        };
        prop_assert_eq!(others(&again), others(&first));
    }
}
