//! Every built-in profile, planned for a made-up machine, applied, killed all over it, and undone.

use crate::machine::{Machine, applied, rolled_back};
use whylate_host::Snapshot;
use whylate_profiles::profile;
use whylate_tuning::{AllowedRefusals, ApplyStep, FaultInjector, Plan, SessionOutcome, System, plan, steps};

/// A machine that the profiles have something to do on.
fn board() -> Machine {
    let machine = Machine::new();
    for (path, text) in [
        ("/sys/devices/system/cpu/online", "0-3\n"),
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/possible", "0-3\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
        ("/sys/devices/virtual/workqueue/cpumask", "f\n"),
        ("/sys/devices/virtual/workqueue/writeback/cpumask", "f\n"),
        ("/proc/sys/kernel/timer_migration", "1\n"),
        ("/proc/sys/kernel/numa_balancing", "1\n"),
        ("/proc/sys/vm/stat_interval", "1\n"),
        ("/proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet\n"),
        ("/proc/irq/24/smp_affinity_list", "0-3\n"),
        ("/proc/interrupts", "           CPU0       CPU1\n 24:          0          0   PCI-MSI   eth0\n"),
        ("/etc/security/limits.conf", "@audio hard rtprio 10\n"),
        ("/etc/default/irqbalance", "#IRQBALANCE_BANNED_CPULIST=\n"),
        ("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"\n"),
        ("/boot/grub/grub.cfg", "menuentry 'Linux' {\n\tlinux /vmlinuz root=/dev/sda1 quiet\n}\n"),
    ] {
        machine.put(path, text, 0o644);
    }
    machine
}

fn planned(machine: &Machine, name: &str) -> (Plan, Vec<ApplyStep>) {
    let system = machine.system(&FaultInjector::default());
    let tree = system.tree();
    let host = Snapshot::read(&tree);
    let given = [("isolated".to_owned(), "2-3".to_owned())];
    let load = |given: &[_]| profile::load(name, given, &host, &[]);
    // Some have no CPUs to isolate.
    let desired = load(&given).or_else(|_| load(&[])).unwrap_or_else(|error| panic!("{name}: {error}"));
    let plan = plan(desired, &tree, &host, &AllowedRefusals::default());
    let steps = steps(&plan, 1, &system).unwrap_or_else(|error| panic!("{name}: {error}"));
    (plan, steps)
}

#[test]
fn every_built_in_profile_is_undone_wherever_it_was_killed() {
    for built_in in profile::built_in() {
        let name = built_in.name;
        let (plan, all) = planned(&board(), name);
        assert!(!all.is_empty(), "{name} changes nothing here");
        let whole = board();
        assert_eq!(
            applied(&whole, &FaultInjector::default(), &all).expect("room"),
            SessionOutcome::Complete,
            "{name}"
        );
        let run = whole.kernel.borrow().run.join(" ");
        assert!(name != "realtime" || run.contains("update-grub"), "the boot loader was told: {run}");
        let limits = whole.path("/etc/security/limits.d/zz-whylate.conf");
        assert_eq!(limits.is_file(), name == "audio", "{name}");
        let (again, left) = planned(&whole, name);
        assert_eq!(again.changes, [], "{name}: applied, nothing is left to change");
        assert!(left.is_empty() && !plan.changes.is_empty(), "{name}");
        for passes in (0..).step_by(7) {
            let machine = board();
            let before = machine.everything();
            let killed = applied(&machine, &FaultInjector::failing_after(passes), &all).is_err();
            if !machine.store(&FaultInjector::default()).ids().expect("readable").is_empty() {
                let undone =
                    rolled_back(&machine, &FaultInjector::default(), false).expect("its journal can be read");
                assert_eq!(undone.outcome, SessionOutcome::Complete, "{name}, after {passes}: {undone:?}");
            }
            assert_eq!(machine.differs_from(&before), Vec::<String>::new(), "{name}, after {passes}");
            if !killed {
                break;
            }
        }
    }
}
