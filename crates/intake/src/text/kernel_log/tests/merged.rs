//! Messages of one kind that are shown together, and those that follow from each other.

use super::{KernelLog, read};

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

#[test]
fn a_quoted_message_counts_for_what_it_shows_beyond_the_log_s_own() {
    let own = "[ 9.1] workqueue: poll_work [drv] hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND\n";
    let quoted = "After a while the log shows `workqueue: poll_work [drv] hogged CPU for >10000us 16 times, and so on.\n";
    for text in [format!("{quoted}\n{own}"), format!("{own}\n{quoted}")] {
        let said = read(&text).to_string();
        assert!(said.contains("the work function poll_work [drv] (at least 16 times) used"), "{said}");
    }
}

#[test]
fn siblings_of_scheduling_while_atomic_are_explained() {
    let tail = "[ 9.1] CPU: 2 PID: 0 Comm: swapper/2 Not tainted\n[ 9.1] Call trace:\n[ 9.1]  dump_stack+0x1/0x2\n\
                [ 9.1]  dequeue_task_idle+0x1/0x2\n[ 9.1]  __schedule+0x1/0x2\n";
    let idle =
        |more: &str| read(&format!("[ 9.1] bad: scheduling from the idle thread!\n{tail}{more}")).to_string();
    let meaning = "means that the idle thread of CPU 2 was about to sleep, which it never may: a bug of the kernel or of a module";
    assert!(idle("").ends_with(meaning), "{}", idle(""));
    let caller = idle("[ 9.1]  wait_for_it+0x1/0x2 [drv]\n");
    assert!(caller.ends_with("; the stack of swapper/2 (0) on CPU 2 is wait_for_it [drv]"), "{caller}");
    let leak = read(
        "[ 9.1] BUG: workqueue leaked lock or atomic: kworker/1:2/0x00000001/71\n[ 9.1]      last function: mill_work [mill]\n\
         [ 9.1] CPU: 1 PID: 71 Comm: kworker/1:2 Not tainted\n[ 9.1] Call trace:\n[ 9.1]  process_one_work+0x1/0x2\n",
    )
    .to_string();
    assert!(
        leak.contains("the work item mill_work [mill], which kworker/1:2 (71) ran, returned with preemption"),
        "{leak}"
    );
    assert!(!leak.contains("process_one_work"), "{leak}");
}

#[test]
fn source_and_commands_are_no_messages() {
    let mut log = KernelLog::default();
    for (at, line) in [
        "-\tprintk_deferred(\"sched: RT throttling activated\\n\");",
        "+\tpr_emerg(\"BUG: soft lockup - CPU#%d stuck for %us! [%s:%d]\\n\",",
        "dmesg | grep -E \"blocked for more than [0-9]+ seconds|soft lockup - CPU\"",
    ]
    .into_iter()
    .enumerate()
    {
        log.line(at as u64 + 1, line);
        assert!(!log.has_message(), "{line}");
    }
    // What the patch is for may stand above it.
    let own =
        "[   12.345678] sched: RT throttling activated\n-\tpr_warn(\"sched: RT throttling activated\\n\");\n";
    let said = read(own).to_string();
    assert!(said.starts_with("Its line 1") && !said.contains("the first of"), "{said}");
}

#[test]
fn what_only_a_sentence_mentions_is_reported_as_such() {
    let text = "We often see \"sched: RT throttling activated\" here, but not this time.\n";
    let log = read(text);
    let said = log.to_string();
    assert!(said.contains("mentions a message of the kernel, which means that real-time threads"), "{said}");
    assert!(said.ends_with("a person's words mention it, and no line of a log shows it"), "{said}");
    assert_eq!(log.what(), "a text that mentions messages of the kernel");
    let with_own = read(&format!("{text}[   12.345678] sched: RT throttling activated\n"));
    assert_eq!(with_own.what(), "a log of the kernel");
    assert!(with_own.to_string().starts_with("Its line 2"), "{with_own}");
}
