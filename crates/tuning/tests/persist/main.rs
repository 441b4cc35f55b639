//! What lasts over a reboot: files of our own.

mod root;

use root::{Root, change, parameter, plan};
use whylate_tuning::persist::{self, PersistError};
use whylate_tuning::{Setting, StepAction, Target, TargetState};

const TUNING: &str = "/etc/systemd/system/whylate-tuning.service";
const LATENCY: &str = "/etc/systemd/system/whylate-latency.service";
const WANTS: &str = "/etc/systemd/system/multi-user.target.wants";
const SYSCTL: &str = "/etc/sysctl.d/99-whylate.conf";

fn knob(path: &str, value: &str) -> whylate_tuning::Change {
    change(Setting::Tunable { path: path.to_owned() }, Some(value))
}

/// An image whose init is systemd.
fn image(files: &[(&str, &str)]) -> Root {
    let root = Root::new(files);
    root.link("/sbin/init", "/lib/systemd/systemd");
    root
}

/// The steps without the copy of this test: it may be longer than the files that are changed here.
fn small(steps: Vec<whylate_tuning::ApplyStep>) -> Vec<whylate_tuning::ApplyStep> {
    let copy = Target::File { path: persist::PROGRAM_COPY.to_owned() };
    let (copies, rest): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| step.target == copy);
    let Some(StepAction::Set(TargetState::File(file))) = copies.first().map(|step| &step.action) else {
        panic!("a program in a build directory is copied");
    };
    let own = std::fs::read(std::env::current_exe().expect("a path")).expect("this test");
    assert!(file.content == own && file.mode == 0o755);
    rest
}

#[test]
fn settings_that_last() {
    let root = image(&[("/etc/sysctl.d/10-x.conf", "")]);
    let before = root.everything();
    let wanted = plan(vec![
        knob("/proc/sys/kernel/timer_migration", "0"),
        knob("/sys/devices/virtual/workqueue/cpumask", "0-1"),
        change(Setting::CpuDmaLatency, Some("10")),
    ]);
    let steps = small(persist::steps(&wanted, 3, &root.system).expect("steps"));
    let named = |path: &str| {
        let step = steps.iter().find(|step| step.target == Target::File { path: path.to_owned() });
        step.expect("a step").settings.clone()
    };
    assert_eq!(named(SYSCTL), ["kernel.timer_migration"]);
    assert_eq!(named(TUNING), ["/sys/devices/virtual/workqueue/cpumask"]);
    assert_eq!(named(LATENCY), ["request on /dev/cpu_dma_latency"]);
    let (commands, undo) = root.make(&steps);
    assert!(commands.is_empty(), "no command runs in an image: {commands:?}");
    assert!(root.text(SYSCTL).is_some_and(|text| text.ends_with("\nkernel.timer_migration = 0\n")));
    let unit = root.text(TUNING).expect("a unit");
    assert!(
        unit.contains("\nExecStart=/usr/local/sbin/whylate-boot apply --boot\n") && unit.contains("number 3")
    );
    let holder = root.text(LATENCY).expect("a unit");
    assert!(holder.contains("\nExecStart=/usr/local/sbin/whylate-boot hold-latency 10\n"));
    for (unit, path) in [("whylate-tuning.service", TUNING), ("whylate-latency.service", LATENCY)] {
        let link = std::fs::read_link(root.path(&format!("{WANTS}/{unit}"))).expect("a link");
        assert_eq!(link.to_str(), Some(path));
    }
    assert!(small(persist::steps(&wanted, 3, &root.system).expect("steps")).is_empty());
    // Not to be held any more: only what is the holder's goes.
    let released = plan(vec![change(Setting::CpuDmaLatency, None)]);
    let steps = small(persist::steps(&released, 3, &root.system).expect("steps"));
    let (_, held) = root.make(&steps);
    assert!(root.text(LATENCY).is_none() && root.text(TUNING).is_some());
    root.undo(&held);
    root.undo(&undo);
    assert_eq!(root.everything(), before);
}

#[test]
fn the_unit_of_a_proof_across_reboots() {
    let root = image(&[]);
    let before = root.everything();
    let (_, undo) = root.make(&small(persist::resume_steps(&root.system).expect("steps")));
    let unit = root.text("/etc/systemd/system/whylate-prove-resume.service").expect("a unit");
    for part in [
        "\nExecStart=/usr/local/sbin/whylate-boot prove-resume\n",
        "\nConditionPathExists=/var/lib/whylate/prove/state.json\n",
        "\nAfter=multi-user.target whylate-tuning.service\n",
    ] {
        assert!(unit.contains(part), "{part} in {unit}");
    }
    assert!(root.path(&format!("{WANTS}/whylate-prove-resume.service")).is_symlink());
    root.undo(&undo);
    assert_eq!(root.everything(), before);
    let other = Root::new(&[("/proc/1/comm", "runit\n")]);
    assert!(matches!(persist::resume_steps(&other.system), Err(PersistError::NoResume)));
}

#[test]
fn who_has_no_systemd() {
    let root = Root::new(&[("/proc/1/comm", "runit\n")]);
    root.link("/sbin/init", "/lib/systemd/systemd");
    let sysctl = knob("/proc/sys/vm/stat_interval", "10");
    let wanted = plan(vec![sysctl.clone(), knob("/sys/kernel/x", "1"), parameter("isolcpus=2")]);
    let steps = persist::steps(&wanted, 1, &root.system).expect("steps");
    let targets: Vec<String> = steps.iter().map(|step| step.target.to_string()).collect();
    assert_eq!(targets, ["/etc/sysctl.d", SYSCTL]);
    assert_eq!(persist::until_reboot(&wanted, &root.tree()), [&wanted.changes[1]]);
    assert_eq!(persist::beyond_undo(&wanted, &root.tree()), [&wanted.changes[2]]);
    assert!(persist::beyond_undo(&wanted, &image(&[]).tree()).is_empty(), "its service undoes them");
    assert!(!persist::can_hold(&root.tree()) && persist::can_hold(&image(&[]).tree()));
    let latency = plan(vec![change(Setting::CpuDmaLatency, Some("0"))]);
    assert!(matches!(persist::steps(&latency, 1, &root.system), Err(PersistError::NoHolder)));
    for (value, setting) in
        [("1\n2", sysctl.setting), ("x", Setting::CpuDmaLatency), ("-1", Setting::CpuDmaLatency)]
    {
        let wanted = plan(vec![change(setting, Some(value))]);
        assert!(persist::steps(&wanted, 1, &image(&[]).system).is_err(), "{value:?}");
    }
    assert_eq!(persist::steps(&plan(Vec::new()), 1, &image(&[]).system), Ok(Vec::new()));
}
