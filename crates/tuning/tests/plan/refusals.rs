//! Plans that are refused: for what they would do, and for the place where they would do it.

use crate::machine::{machine, thread};
use crate::{cpus_of, desired_setting, knob, parameter, permitted, planned, refusals};
use whylate_profiles::Selector;
use whylate_tuning::without_root;

#[test]
fn what_must_not_be() {
    let files = machine();
    for (asked, expected) in [
        (vec![parameter("isolcpus", "managed_irq,domain,2-3")], vec![]),
        (vec![parameter("isolcpus", "0-3")], vec!["no-housekeeping-cpu", "isolates-cpu-0"]),
        (
            vec![parameter("isolcpus", "1-N"), parameter("nohz_full", "0")],
            vec!["no-housekeeping-cpu", "isolates-cpu-0"],
        ),
        (vec![parameter("isolcpus", "0-1")], vec!["isolates-cpu-0"]),
        (vec![parameter("isolcpus", "3-5")], vec!["unknown-cpus"]),
        (
            vec![desired_setting(Selector::Partition { group: "rt".to_owned() }, "isolated 0-3")],
            vec!["no-housekeeping-cpu", "isolates-cpu-0"],
        ),
        (vec![cpus_of("*", "7")], vec!["no-housekeeping-cpu", "unknown-cpus"]),
        (vec![knob("/proc/sys/kernel/sched_rt_runtime_us", "-1")], vec!["throttling-off-no-net"]),
        (vec![knob("/proc/sys/kernel/sched_rt_runtime_us", "980000")], vec![]),
    ] {
        let plan = planned(&files, asked.clone());
        assert_eq!(refusals(&plan), expected, "{asked:?}: {:?}", plan.refusals);
        assert!(!plan.changes.is_empty(), "they are shown all the same");
    }
    let off = || vec![knob("/proc/sys/kernel/sched_rt_runtime_us", "-1")];
    assert_eq!(refusals(&permitted(&files, off(), &["throttling-off-no-net"])), [""; 0]);
    let mut caught = files.clone();
    thread(&mut caught, 80, "stalld", false, (1, 10), "0-3");
    assert_eq!(refusals(&planned(&caught, off())), [""; 0], "stalld catches one that loops");
    let mut offline = files.clone();
    offline.insert("/sys/devices/system/cpu/online".to_owned(), "0-2\n".to_owned());
    let plan = planned(&offline, vec![parameter("isolcpus", "2-3")]);
    assert!(
        refusals(&plan) == ["unknown-cpus"] && plan.refusals[0].why.contains("CPUs 3, which are offline"),
        "{plan:?}"
    );
}

#[test]
fn where_nothing_can_be_written() {
    let mut files = machine();
    files.insert("/sys/kernel/debug/sched/fair_server/cpu0/runtime".to_owned(), "50000000\n".to_owned());
    let server = || vec![knob("/sys/kernel/debug/sched/fair_server/cpu*/runtime", "40000000")];
    assert_eq!(refusals(&planned(&files, server())), [""; 0]);
    files.insert("/sys/kernel/security/lockdown".to_owned(), "none [integrity] confidentiality\n".to_owned());
    assert_eq!(refusals(&planned(&files, server())), ["locked-down"]);
    let mut files = machine();
    files.insert("/proc/self/mounts".to_owned(), "proc /proc/sys proc ro 0 0\n".to_owned());
    files.insert("/.dockerenv".to_owned(), String::new());
    files.insert("/proc/self/status".to_owned(), "CapEff:\t00000000a80425fb\n".to_owned());
    let plan = planned(&files, vec![knob("/proc/sys/vm/swappiness", "10")]);
    assert_eq!(refusals(&plan), ["locked-down", "container"]);
    files.insert("/proc/self/status".to_owned(), "CapEff:\t0000000000000000\n".to_owned());
    let not_root = planned(&files, vec![knob("/proc/sys/vm/swappiness", "10")]);
    assert_eq!(refusals(&not_root), ["locked-down"], "a user other than root is refused before that");
    assert!(without_root(&plan, false).is_some_and(|refusal| refusal.code == "not-root"));
    assert_eq!(without_root(&plan, true), None);
}
