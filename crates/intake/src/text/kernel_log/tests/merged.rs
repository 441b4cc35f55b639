//! Messages of one kind that are shown together, and those that follow from each other.

use super::read;

#[test]
fn what_the_first_line_alone_does_not_mean_is_of_the_others_too() {
    let pending = |mask: &str| format!("[ 9.1] NOHZ: local_softirq_pending {mask}\n");
    for (masks, words) in [
        (["08", "08", "08"], "\", the first of 3) means that the softirq NET_RX was pending"),
        (
            ["80", "08", "80"],
            "\", the first of 3) and the others mean that softirqs were pending as an idle CPU stopped its tick: SCHED (twice), \
                              NET_RX (once)",
        ),
    ] {
        let said = read(&masks.map(pending).concat()).to_string();
        assert!(said.contains(words), "{said}");
    }
    let longer =
        read("[ 9.1] hrtimer: interrupt took 1311 ns\n[ 9.4] hrtimer: interrupt took 90211 ns\n").to_string();
    assert!(longer.contains("and the other mean that the timer interrupt took 90.21 us"), "{longer}");
}

#[test]
fn a_stop_in_the_watchdogs_nmi_names_the_cpu_and_its_thread() {
    let text = |callback: &str, before: &str| {
        let lines = format!(
            "{before}[ 81.1] Kernel panic - not syncing: Hard LOCKUP\n[ 81.1] CPU: 4 PID: 71 Comm: mill Kdump: loaded 3.10.0\n\
             [ 81.1] Call Trace:\n[ 81.1]  <NMI>  [<ffffffffa7313562>] dump_stack+0x19/0x1b\n\
             [ 81.1]  [<ffffffffa6c920af>] nmi_panic+0x3f/0x40\n[ 81.1]  [<ffffffffa6d44411>] {callback}+0x121/0x140\n"
        );
        read(&lines).to_string()
    };
    let own = text("watchdog_overflow_callback", "");
    assert!(
        own.contains("means that CPU 4 had interrupts disabled for 10 s or more while mill (71) was on it"),
        "{own}"
    );
    assert!(!own.contains("nmi_panic"), "{own}");
    // Another CPU may report it.
    let other = text("watchdog_buddy_check_hardlockup", "");
    assert!(
        other.contains("means that a CPU had interrupts disabled") && !other.contains("mill (71) was"),
        "{other}"
    );
    let both = text("watchdog_overflow_callback", "Watchdog detected hard LOCKUP on cpu 4\n");
    assert!(
        both.contains("CPU 4 had interrupts disabled") && both.contains("the stop follows from"),
        "{both}"
    );
}

#[test]
fn hard_lockups_of_several_cpus_are_all_named() {
    let said =
        read("Watchdog detected hard LOCKUP on cpu 3\nWatchdog detected hard LOCKUP on cpu 5\n").to_string();
    assert!(
        said.ends_with(
            "and the other mean that CPUs 3 and 5 had interrupts disabled for 10 s or more (hard lockup)"
        ),
        "{said}"
    );
}
