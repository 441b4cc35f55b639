//! Programs, files and kernel parameters that a plan conflicts with.

use crate::machine::{GRUB, machine, thread};
use crate::{conflicts, desired_setting, knob, parameter, planned};
use whylate_profiles::{DesiredSetting, Selector};

#[test]
fn who_would_undo_it() {
    let irqs = || vec![desired_setting(Selector::Irqs, "0-1")];
    let mut files = machine();
    assert_eq!(conflicts(&planned(&files, irqs())), [""; 0]);
    thread(&mut files, 71, "irqbalance", false, (0, 0), "0-3");
    assert_eq!(conflicts(&planned(&files, irqs())), ["irqbalance"]);
    let stopped =
        || desired_setting(Selector::UnitActive { unit: "irqbalance.service".to_owned() }, "inactive");
    assert_eq!(conflicts(&planned(&files, [irqs(), vec![stopped()]].concat())), [""; 0]);
    files.insert("/etc/default/irqbalance".to_owned(), "IRQBALANCE_BANNED_CPULIST=2-3\n".to_owned());
    assert_eq!(conflicts(&planned(&files, irqs())), [""; 0], "irqbalance already has this list");
    files.insert("/etc/default/irqbalance".to_owned(), "IRQBALANCE_BANNED_CPULIST=3\n".to_owned());
    assert_eq!(conflicts(&planned(&files, irqs())), ["irqbalance"], "of one of them alone");

    // A mask counts before the list, whatever the plan puts there.
    let notify = |name: &str, value: &str| {
        let (file, name) = ("/etc/default/irqbalance".to_owned(), name.to_owned());
        [irqs(), vec![desired_setting(Selector::Variable { file, section: None, name }, value)]].concat()
    };
    let list = || notify("IRQBALANCE_BANNED_CPULIST", "2-3");
    assert_eq!(conflicts(&planned(&files, list())), [""; 0]);
    for (mask, against) in [("c", false), ("", false), ("8", true)] {
        let text = format!("IRQBALANCE_BANNED_CPUS={mask}\n");
        files.insert("/etc/default/irqbalance".to_owned(), text);
        let plan = planned(&files, list());
        assert_eq!(!conflicts(&plan).is_empty(), against, "{mask}");
        if let Some(conflict) = plan.conflicts.first() {
            assert!(
                conflict.why.contains("IRQBALANCE_BANNED_CPUS=8 in /etc/default/irqbalance"),
                "{conflict:?}"
            );
            assert!(conflict.fix.starts_with("IRQBALANCE_BANNED_CPUS=0000000c there"), "{conflict:?}");
        }
    }
    assert_eq!(
        conflicts(&planned(&files, notify("IRQBALANCE_BANNED_CPUS", "c"))),
        [""; 0],
        "it sets the mask"
    );
    let mut both = [list(), notify("IRQBALANCE_BANNED_CPUS", "")].concat();
    both.last_mut().expect("the mask").value = None;
    assert_eq!(conflicts(&planned(&files, both)), [""; 0], "it takes the mask away");

    let mut files = machine();
    files.insert("/etc/tuned/active_profile".to_owned(), "throughput-performance\n".to_owned());
    let swappiness = || vec![knob("/proc/sys/vm/swappiness", "10")];
    assert_eq!(conflicts(&planned(&files, swappiness())), [""; 0], "it neither runs nor starts");
    thread(&mut files, 72, "tuned", false, (0, 0), "0-3");
    assert_eq!(conflicts(&planned(&files, swappiness())), ["TuneD"]);

    let mut files = machine();
    files.insert("/etc/sysctl.d/50-x.conf".to_owned(), "vm.swappiness = 30\n".to_owned());
    let plan = planned(&files, swappiness());
    assert_eq!(conflicts(&plan), ["/etc/sysctl.d/50-x.conf"]);
    assert!(plan.conflicts[0].why.contains("vm.swappiness = 30"), "{:?}", plan.conflicts);
    files.insert("/etc/sysctl.d/50-x.conf".to_owned(), "vm.swappiness = 10\n".to_owned());
    assert_eq!(conflicts(&planned(&files, swappiness())), [""; 0], "it sets the same");

    let mut files = machine();
    files
        .insert("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor".to_owned(), "powersave\n".to_owned());
    thread(&mut files, 73, "power-profiles-", false, (0, 0), "0-3");
    let governor = vec![knob("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance")];
    assert_eq!(conflicts(&planned(&files, governor)), ["power-profiles-daemon"]);
}

#[test]
fn parameters_that_contradict_each_other() {
    let mut files = machine();
    files.insert("/boot/grub/grub.cfg".to_owned(), GRUB.replace("quiet", "quiet nohz=off"));
    let plan = planned(&files, vec![parameter("nohz_full", "2-3")]);
    assert_eq!(conflicts(&plan), ["nohz=off on the kernel command line"]);
    let mended = DesiredSetting { value: None, ..parameter("nohz", "") };
    assert_eq!(conflicts(&planned(&files, vec![parameter("nohz_full", "2-3"), mended])), [""; 0]);
    files.insert(
        "/etc/tuned/bootcmdline".to_owned(),
        "TUNED_BOOT_CMDLINE=\"isolcpus=1 skew_tick=1\"\n".to_owned(),
    );
    assert_eq!(conflicts(&planned(&files, vec![parameter("isolcpus", "2-3")])), ["TuneD"]);
}
