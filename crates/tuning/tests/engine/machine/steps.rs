//! Steps of every kind, those that a machine refuses, and arbitrary ones.

use super::kernel::{GRUB, MENU};
use super::root::Machine;
use proptest::prelude::{Just, Strategy, prop_oneof};
use whylate_bootloader::FileState;
use whylate_tuning::{ApplyStep, StepAction, Target, TargetState, ThreadId};

pub(crate) fn knob(path: &str) -> Target {
    Target::Tunable { path: path.to_owned() }
}

pub(crate) fn file(path: &str) -> Target {
    Target::File { path: path.to_owned() }
}

pub(crate) fn thread(tid: i32) -> ThreadId {
    ThreadId { pid: tid, tid, started: 7, name: "t".to_owned() }
}

/// The bytes of a file, owned by the user who runs the test.
pub(crate) fn content(text: &str, mode: u32) -> TargetState {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    TargetState::File(FileState { content: text.as_bytes().to_vec(), mode, uid, gid })
}

pub(crate) fn directory() -> TargetState {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    TargetState::Directory { mode: 0o755, uid, gid }
}

pub(crate) fn set(target: Target, state: TargetState) -> ApplyStep {
    let settings = vec![target.to_string()];
    ApplyStep { target, action: StepAction::Set(state), notify: None, settings, optional: false }
}

pub(crate) fn value(target: Target, value: &str) -> ApplyStep {
    set(target, TargetState::Value(value.to_owned()))
}

fn notified(step: ApplyStep) -> ApplyStep {
    ApplyStep { notify: Some(vec!["systemctl".to_owned(), "daemon-reload".to_owned()]), ..step }
}

pub(crate) fn update_grub() -> ApplyStep {
    let action = StepAction::Make(vec!["update-grub".to_owned()]);
    ApplyStep {
        target: file(MENU),
        action,
        notify: None,
        settings: vec!["kernel parameter isolcpus".to_owned()],
        optional: false,
    }
}

/// Steps of every kind.
pub(crate) fn every_kind() -> Vec<ApplyStep> {
    let group = || "/sys/fs/cgroup/rt".to_owned();
    let fair = |name: &str| knob(&format!("/sys/kernel/debug/sched/fair_server/cpu0/{name}"));
    vec![
        value(Target::UnitActive { unit: "irqbalance.service".into() }, "inactive"),
        value(knob("/proc/sys/kernel/sched_rt_runtime_us"), "-1"),
        value(knob("/proc/sys/vm/swappiness"), "60"),
        value(knob("/proc/irq/default_smp_affinity"), "0-1"),
        value(fair("runtime"), "0"),
        value(fair("period"), "2000000"),
        value(fair("runtime"), "1000000"),
        value(Target::ThreadPolicy { thread: thread(41) }, "fifo 4"),
        value(Target::ThreadCpus { thread: thread(42) }, "0-1"),
        value(Target::ThreadCpus { thread: thread(99) }, "0-1"),
        value(knob("/sys/fs/cgroup/cgroup.subtree_control"), "cpuset"),
        set(Target::Group { path: group() }, directory()),
        value(knob("/sys/fs/cgroup/rt/cpuset.cpus"), "2-3"),
        value(knob("/sys/fs/cgroup/rt/cpuset.cpus.partition"), "isolated"),
        set(Target::Directory { path: "/etc/default/grub.d".into() }, directory()),
        notified(set(file("/etc/systemd/system/whylate-tuning.service"), content("[Service]\n", 0o644))),
        notified(set(file("/etc/systemd/system/x.service"), TargetState::Absent)),
        set(file("/etc/systemd/system/y.service"), TargetState::Link { target: "/dev/null".into() }),
        set(file("/etc/sysctl.d/10-own.conf"), content("vm.swappiness = 10\n", 0o644)),
        set(file("/etc/default/grub.d/50-whylate.cfg"), content("isolcpus=2-3\n", 0o644)),
        set(file(GRUB), content("GRUB_CMDLINE_LINUX_DEFAULT=\"\"\n", 0o640)),
        update_grub(),
    ]
}

/// Steps of optional settings, each refused by [`refusing`] at another place: at once, after the first step of three, by
/// a value that means another, and at the end of a control group.
pub(crate) fn refused_kinds() -> Vec<ApplyStep> {
    let of = |setting: &str, steps: Vec<ApplyStep>| {
        let settings = vec![setting.to_owned()];
        steps.into_iter().map(move |step| ApplyStep { settings: settings.clone(), optional: true, ..step })
    };
    let fair = |name: &str| knob(&format!("/sys/kernel/debug/sched/fair_server/cpu0/{name}"));
    let group = "/sys/fs/cgroup/rt";
    let one = |name: &str, wanted: &str| vec![value(knob(name), wanted)];
    let server = vec![
        value(fair("runtime"), "0"),
        value(fair("period"), "2000000"),
        value(fair("runtime"), "1000000"),
    ];
    let partition = vec![
        value(knob("/sys/fs/cgroup/cgroup.subtree_control"), "cpuset"),
        set(Target::Group { path: group.to_owned() }, directory()),
        value(knob(&format!("{group}/cpuset.cpus")), "2-3"),
        value(knob(&format!("{group}/cpuset.cpus.partition")), "isolated"),
    ];
    of("swappiness", one("/proc/sys/vm/swappiness", "5"))
        .chain(of("ksm", one("/sys/kernel/mm/ksm/run", "2")))
        .chain(of("server", server))
        .chain(of("runtime", one("/proc/sys/kernel/sched_rt_runtime_us", "-1")))
        .chain(of("partition", partition))
        .chain([set(file("/etc/sysctl.d/10-own.conf"), content("vm.swappiness = 5\n", 0o640))])
        .collect()
}

/// A machine that refuses most of [`refused_kinds`].
pub(crate) fn refusing() -> Machine {
    let machine = Machine::new();
    let mut kernel = machine.kernel.borrow_mut();
    kernel.refusing = [
        "/sys/kernel/mm/ksm/run",
        "/sys/kernel/debug/sched/fair_server/cpu0/period",
        "/sys/fs/cgroup/rt/cpuset.cpus.partition",
    ]
    .map(str::to_owned)
    .to_vec();
    kernel.bending = vec![("/proc/sys/kernel/sched_rt_runtime_us".into(), "-1".into(), "2147483647".into())];
    drop(kernel);
    machine
}

/// Some of [`every_kind`], some with other values.
pub(crate) fn some_steps() -> impl Strategy<Value = Vec<ApplyStep>> {
    let all = every_kind();
    let picks = proptest::collection::vec((0..all.len(), prop_oneof![Just(false), Just(true)]), 0..14);
    picks.prop_map(move |picks| {
        picks.into_iter().filter_map(|(at, other)| Some(varied(all.get(at)?, other))).collect()
    })
}

fn varied(step: &ApplyStep, other: bool) -> ApplyStep {
    let mut step = step.clone();
    if let (true, StepAction::Set(state)) = (other, &mut step.action) {
        match state {
            TargetState::Value(value) if value.parse::<i64>().is_ok() => *value = "7".to_owned(),
            TargetState::File(file) => {
                file.content.extend_from_slice(b"and more\n");
                file.mode = 0o600;
            }
            TargetState::Link { target } => *target = "/elsewhere".to_owned(),
            _ => {}
        }
    }
    step
}
