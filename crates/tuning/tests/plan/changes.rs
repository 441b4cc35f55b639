//! What a plan changes, in which order, and what it leaves unchanged.

use crate::machine::machine;
use crate::{changes, cpus_of, desired, desired_setting, knob, parameter, planned, policy_of};
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::Selector;
use whylate_tuning::{AllowedRefusals, Plan, Setting, plan};

#[test]
fn a_plan_is_what_differs_in_the_order_of_the_wishes() {
    let asked = vec![
        knob("/proc/sys/vm/swappiness", "10"),
        knob("/proc/sys/kernel/timer_migration", "1"),
        knob("/proc/sys/kernel/nothing", "1"),
        desired_setting(Selector::Irqs, "0-1"),
        cpus_of("*", "0-1"),
        policy_of("[ktimers/*]", "fifo 3"),
    ];
    let plan = planned(&machine(), asked.clone());
    assert_eq!(
        changes(&plan),
        [
            "vm.swappiness: 60 -> 10",
            "/proc/irq/default_smp_affinity: 0-3 -> 0-1",
            "/proc/irq/24/smp_affinity_list: 0-3 -> 0-1",
            "CPUs of [kthreadd] (2): 0-3 -> 0-1",
            "CPUs of app (700): 0-3 -> 0-1",
            "policy of [ktimers/2] (17): fifo 1 -> fifo 3",
        ]
    );
    assert_eq!(plan.unchanged.len(), 1);
    let left: Vec<&str> = plan.skipped.iter().map(|left| left.what.as_str()).collect();
    assert_eq!(left, ["/proc/sys/kernel/nothing", "CPUs of [ktimers/2]"]);
    assert_eq!((plan.machine.cpus.as_deref(), plan.machine.boot_id.as_deref()), (Some("0-3"), Some("b0")));
    assert_eq!(plan, planned(&machine(), asked), "again it is the same");
    let read: Plan =
        serde_json::from_str(&serde_json::to_string(&plan).expect("plain data")).expect("its own");
    assert_eq!(read, plan);
}

#[test]
fn of_patterns_that_overlap_the_later_one_counts() {
    let mut files = machine();
    for cpu in [0, 10, 2] {
        files.insert(
            format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
            "powersave\n".to_owned(),
        );
    }
    let at = |cpu: &str| format!("/sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor");
    let plan = planned(&files, vec![knob(&at("cpu*"), "performance"), knob(&at("cpu2"), "schedutil")]);
    let lines = changes(&plan);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("cpu0/") && lines[1].contains("cpu10/"), "{lines:?}");
    assert!(lines[2].ends_with("cpu2/cpufreq/scaling_governor: powersave -> schedutil"), "{lines:?}");
}

#[test]
fn a_parameter_that_the_kernel_does_not_have_is_left_alone() {
    let plan = planned(&machine(), vec![parameter("rcu_nocbs", "2-3"), parameter("nohz_full", "2-3")]);
    assert_eq!(changes(&plan), ["kernel parameter nohz_full: - -> 2-3"]);
    assert!(plan.skipped[0].why.contains("CONFIG_RCU_NOCB_CPU"), "{:?}", plan.skipped);
}

#[test]
fn a_machine_of_which_nothing_is_known_is_left_alone() {
    let tree = FsRoot::refusing(whylate_host::Why::Denied);
    let asked = vec![
        knob("/proc/sys/vm/swappiness", "10"),
        knob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance"),
        desired_setting(Selector::Irqs, "0"),
        cpus_of("*", "0"),
        policy_of("*", "fifo 1"),
        parameter("isolcpus", "1"),
        desired_setting(Selector::UnitActive { unit: "a.service".to_owned() }, "inactive"),
        desired_setting(Selector::UnitEnabled { unit: "a.service".to_owned() }, "disabled"),
        desired_setting(Selector::Partition { group: "rt".to_owned() }, "isolated 1"),
        desired_setting(
            Selector::Variable { file: "/etc/x".to_owned(), section: None, name: "A".to_owned() },
            "1",
        ),
        desired_setting(Selector::CpuDmaLatency, "0"),
    ];
    let plan = plan(desired(asked.clone()), &tree, &Snapshot::read(&tree), &AllowedRefusals::default());
    assert_eq!((plan.changes.as_slice(), plan.unchanged.as_slice()), (&[][..], &[][..]));
    assert!(plan.skipped.len() >= asked.len() && plan.is_blind(), "{plan:?}");
}

#[test]
fn a_request_that_no_process_would_hold_is_left_alone() {
    let mut files = machine();
    files.retain(|path, _| !path.starts_with("/run/systemd"));
    // As good as no request: some 2000 s.
    files.insert("/dev/cpu_dma_latency".to_owned(), "\0\u{14}\u{35}\u{77}".to_owned());
    files.insert("/proc/1/comm".to_owned(), "runit\n".to_owned());
    let plan = planned(
        &files,
        vec![desired_setting(Selector::CpuDmaLatency, "10"), knob("/proc/sys/vm/swappiness", "10")],
    );
    assert!(plan.changes.iter().all(|change| change.setting != Setting::CpuDmaLatency), "{plan:?}");
    assert!(plan.skipped.iter().any(|left| left.why.contains("systemd, which would run that")), "{plan:?}");
    files.insert("/run/systemd/system/x".to_owned(), String::new());
    let plan = planned(&files, vec![desired_setting(Selector::CpuDmaLatency, "10")]);
    assert!(plan.changes.iter().any(|change| change.setting == Setting::CpuDmaLatency), "{plan:?}");
}
