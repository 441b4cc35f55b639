//! Whole logs.

mod cut_reports;
mod elsewhere;
mod merged;
mod repeated;
mod sparc;
mod told_apart;
mod waiting_cpus;

use super::*;

fn read(text: &str) -> KernelLog {
    let mut log = KernelLog::default();
    (1..).zip(text.lines()).for_each(|(number, line)| log.line(number, line));
    log
}

#[test]
fn a_message_has_its_words_and_the_stack_below_it() {
    let log = read(
        "[  70.1][   C1] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\nCPU: 1 PID: 7 Comm: app\n\
             pc : spin+0x10/0x20\nlr : other+0x1/0x2\nCall trace:\n spin+0x10/0x20\n ? unsure+0x1/0x2\n caller+0x4/0x8 [module]\n",
    );
    let said = log.to_string();
    let words =
        "Its line 1 (\"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\") means that CPU 1 stayed";
    assert!(said.starts_with(words), "{said}");
    assert!(said.ends_with("; the stack of app (7) on CPU 1 is spin, called from caller [module]"), "{said}");
}

#[test]
fn a_lockup_of_the_idle_task_and_one_with_a_fresh_heartbeat_are_not_believed() {
    let idle = read("watchdog: BUG: soft lockup - CPU#0 stuck for 23s! [swapper/0:0]").to_string();
    assert!(idle.contains("while its idle task had it"), "{idle}");
    let hard = "watchdog: CPU 0 self-detected hard LOCKUP @ __del_page_from_free_list+0x40/0x220\n";
    let said = read(&format!("{hard}watchdog: CPU 0 TB:89, last heartbeat TB:88 (10ms ago)\n")).to_string();
    assert!(said.ends_with("a sign of life 10 ms before it, so it may be a false alarm"), "{said}");
    let said =
        read(&format!("{hard}watchdog: CPU 0 TB:89, last heartbeat TB:88 (15360ms ago)\n")).to_string();
    assert!(!said.contains("false alarm"), "{said}");
}

#[test]
fn work_in_flight_repetitions_and_crashes_are_reported() {
    let said = read(
            "Oops: 0000 [#1] SMP\n caller+0x1/0x2\n[ 2.1] hrtimer: interrupt took 30211 ns\n other+0x1/0x2\n> [ 9.6] BUG: workqueue lockup - pool cpus=2 node=0 flags=0x0 nice=0 stuck for 35s!\n\
             [ 9.7]   pwq 4: cpus=2 node=0 flags=0x0 nice=0 active=1/256\n[ 9.7]     in-flight: 3760137:psi_avgs_work\n[ 9.9] BUG: workqueue lockup - pool cpus=2 stuck for 66s!\n",
        )
        .to_string();
    assert!(said.starts_with("Its line 1 (\"Oops: 0000 [#1] SMP\") means that the kernel crashed"), "{said}");
    assert!(said.contains("the stack below it is caller, called from other. Line 3"), "{said}");
    assert!(
        said.contains(
            "stuck for 35s!\", the first of 2) and the other mean that the work items of the worker pool of CPU 2 did not"
        ),
        "{said}"
    );
    assert!(said.ends_with("; the work that had begun is psi_avgs_work (worker 3760137)"), "{said}");
}

#[test]
fn work_in_flight_in_the_pool_of_another_cpu_is_not_that_of_the_stuck_pool() {
    let said = read(
        "[ 9.6] BUG: workqueue lockup - pool cpus=2 node=0 flags=0x0 nice=0 stuck for 35s!\n[ 9.6] workqueue events: flags=0x0\n\
         [ 9.7]   pwq 4: cpus=2 node=0 flags=0x0 nice=0 active=2/256\n[ 9.7]     pending: late_work\n\
         [ 9.7]   pwq 8: cpus=4 node=0 flags=0x0 nice=0 active=1/256\n[ 9.7]     in-flight: 71:other_work\n",
    )
    .to_string();
    assert!(said.ends_with("for 35 s; only work of other pools is shown as begun"), "{said}");
}

#[test]
fn a_stack_of_functions_that_are_not_sure_is_left_out_in_words() {
    let hung = "INFO: task app:27 blocked for more than 120 seconds.\napp D ffff 0 27 3 0x00000000\nCall Trace:\n\
                \u{20}[<c01>] ? lock_it.isra.5+0xff/0x164\n [<c02>] ? walk+0x1/0x4\n";
    let left_out = "; the functions of its stack are left out: the kernel is sure of none of them (`?`)";
    let said = read(hung).to_string();
    assert!(said.ends_with(left_out) && !said.contains("walk"), "{said}");
    let said = read(&format!("{hung} [<c03>] open_it+0x1/0x4\n")).to_string();
    assert!(!said.contains(left_out) && said.contains("open_it"), "{said}");
}

#[test]
fn a_broken_line_is_read_with_its_rest() {
    let said = read(
            "001: rcu: INFO: rcu_preempt self-detected stall on CPU\n001: rcu:  1-...!: (10403 ticks this GP)\nidle=77a/1/0x4 fqs=0\n\
             001: rcu: rcu_preempt kthread starved for 10404\njiffies! g7 f0x0 RCU_GP_WAIT_FQS(5) ->s\ntate=0x0 ->cpu=0\n\
             001: rcu_preempt     R  running task        0    10\n 2 0x00000000\n[<c0>] (schedule) from [<c0>]\n(gp+0x1/0x2)\n",
        )
        .to_string();
    let meaning = "means that RCU's own thread rcu_preempt was runnable and got no CPU time on CPU 0 for 10404 jiffies, and that \
                       CPU 1 gave RCU no quiescent state (RCU stall); what ran on CPUs 0 and 1 is not shown";
    assert!(said.ends_with(meaning), "{said}");
}

#[test]
fn messages_of_one_crash_count_once() {
    let said = read(
            "BUG: unable to handle page fault for address: ffff\nOops: 0000 [#1] SMP NOPTI\nCPU: 13 PID: 0 Comm: swapper/13 Not tainted\n\
             RIP: 0010:gso+0x44/0xa0\nCall Trace:\n <IRQ>\n output+0x1/0x2\nKernel panic - not syncing: Fatal exception\n",
        )
        .to_string();
    assert!(
        said.starts_with("Its line 1 (\"BUG: unable to handle page fault for address: ffff\") means"),
        "{said}"
    );
    assert!(said.ends_with("; the stack of swapper/13 (0) on CPU 13 is gso, called from output"), "{said}");
}

#[test]
fn stacks_are_of_the_message_above_them() {
    let said = read(
            "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\n spin+0x1/0x2\nBUG: scheduling while atomic: b/9/0x2\n driver+0x1/0x2\n\
             watchdog: BUG: soft lockup - CPU#1 stuck for 48s! [app:7]\n later+0x1/0x2\n",
        )
        .to_string();
    assert!(said.contains("stayed in the kernel for 48 s") && said.contains("is spin. Line 3"), "{said}");
    assert!(said.ends_with("the stack below it is driver"), "{said}");
}

#[test]
fn work_in_flight_is_of_the_lockup_above_it_and_no_stack_of_a_message_that_is_not_kept() {
    let said = read(
        "BUG: workqueue lockup - pool cpus=1 stuck for 35s!\nBUG: workqueue lockup - pool cpus=2 stuck for 35s!\npwq 4: cpus=2\nin-flight: 7:late_work\n\
         hrtimer: interrupt took 7 ns\nOops: 0\nNMI received for unknown reason 3d\nBUG: Invalid wait context\nirq 7: local_softirq_pending\n\
         Detected non-responsive CSD lock\n last_one+0x1/0x2\n",
    )
    .to_string();
    assert!(said.contains("the first of 2) and the other mean that the work items of the worker pool of CPU 1 did not come to run for 35 s, and those of CPU 2 for 35 s; the \
                       work that had begun is late_work (worker 7). Line"), "{said}");
    assert!(!said.contains("last_one"), "{said}");
}

/// A report of a stall by a CPU itself.
fn stall(stamp: &str, cpu: u32, jiffies: u32, grace_period: u32, thread: &str) -> String {
    format!(
        "{stamp}rcu: INFO: rcu_preempt self-detected stall on CPU\n{stamp}rcu: \t{cpu}-....: (1 GPs behind) idle=1/1/0x4 fqs=9\n\
         {stamp}\t(t={jiffies} jiffies g={grace_period} q=7)\n{stamp}CPU: {cpu} PID: 9 Comm: {thread} Not tainted\n{stamp}Call Trace:\n\
         {stamp} {thread}_spins+0x1/0x2\n"
    )
}

#[test]
fn each_stall_is_described_and_a_repeated_one_has_its_longest_time() {
    let of = |stalls: &[(u32, u32, u32, &str)]| {
        let text: Vec<String> =
            stalls.iter().map(|&(cpu, t, g, name)| stall("[ 9.1] ", cpu, t, g, name)).collect();
        read(&text.concat()).to_string()
    };
    let first = "means that CPU 3 gave RCU no quiescent state for 5250 jiffies (RCU stall); a (9) ran on CPU 3, in a_spins";
    let both = of(&[(3, 5250, 7, "a"), (1, 2100, 8, "b")]);
    let second = ". Line 7 means that CPU 1 gave RCU no quiescent state for 2100 jiffies (RCU stall); b (9) ran on CPU 1, in b_spins";
    assert!(both.ends_with(&format!("{first}{second}")), "{both}");
    // Of the same grace period only how long it lasted is new.
    let repeated = of(&[(3, 5250, 7, "a"), (3, 21003, 7, "a"), (1, 2100, 8, "b"), (3, 36756, 7, "a")]);
    assert!(
        repeated.ends_with(&format!(
            "{first}; line 19 reports the same stall after 36756 jiffies. Line 13{}",
            &second[8..]
        )),
        "{repeated}"
    );
    let many: Vec<(u32, u32, u32, &str)> = (0..40).map(|at| (3, 5250 + at, 7, "a")).collect();
    assert!(of(&many).contains("; line 235 reports the same stall after 5289 jiffies"), "{}", of(&many));
    let others: Vec<(u32, u32, u32, &str)> = (0..12).map(|at| (at, 5250, at, "a")).collect();
    let said = of(&others);
    assert_eq!(said.matches("gave RCU no quiescent state").count(), 1 + written::MOST_DESCRIBED, "{said}");
    assert!(said.ends_with("; 8 more such messages are not described here"), "{said}");
}

#[test]
fn a_time_is_no_cpu() {
    // The brackets before the times were lost, and a line was put behind the one before it.
    let said = read(
        "5.000070] rcu: INFO: rcu_preempt self-detected stall on CPU\n5.000101] rcu: $2-....: (3 GPs behind) idle=1/1/0x4 f\n\
         9 rcuc=5301 jiffies (starved)\n5.000124] rcu: t = 525O jiffies g = 3129 ncpus=4) 7.000757] rcu: INFO: rcu_preempt self-detected stall on CPU\n",
    )
    .to_string();
    assert!(
        said.contains(
            "means that CPU 2 gave RCU no quiescent state (RCU stall); rcuc/2 did not run for 5301 jiffies"
        ),
        "{said}"
    );
    assert!(!said.contains("CPU 5") && !said.contains("CPU 7"), "{said}");
}

#[test]
fn a_list_of_expedited_readers_has_its_own_time() {
    let said = read(
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: \tTasks blocked on level-0 rcu_node (CPUs 0-3):\n\
         \t(detected by 2, t=5010 jiffies, g=1809, q=1791)\n\
         rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { P71 } 5382 jiffies s: 117 root: 0x0/T\n\
         rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: \tTasks blocked on level-0 rcu_node (CPUs 0-3):\n\
         \t(detected by 0, t=20765 jiffies, g=1809, q=1806)\n",
    )
    .to_string();
    let meaning = "means that a thread that the report does not name was in a section that RCU waits for, and did not leave it for 5010 \
                   jiffies (RCU stall); line 5 reports the same stall after 20765 jiffies. Line 4 means that thread 71 was in a section \
                   that RCU waits for, and did not leave it for 5382 jiffies (RCU stall)";
    assert!(said.ends_with(meaning), "{said}");
}

#[test]
fn a_broken_report_of_a_worker_pool_is_read_with_its_rest() {
    let said = read(
        "kernel:BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck\nfor 30s!\n\nMessage from syslogd@host at\n\
         kernel:BUG: workqueue lockup - pool cpus=3 node=0 flags=0x0 nice=0 stuck\nfor 49s!\n",
    )
    .to_string();
    assert!(
        said.ends_with("pool of CPU 3 did not come to run for 49 s, and those of CPU 1 for 30 s"),
        "{said}"
    );
}

/// A stall of CPU 1 whose idle thread was current, with these lines of its stack.
fn idle_stall(stack: &str) -> String {
    read(&format!(
        "rcu: INFO: rcu_sched self-detected stall on CPU\nrcu: \t1-....: (9 ticks this GP) idle=1/0/0x3 fqs=9\n\
         rcu: \t(t=21004 jiffies g=7 q=7)\nCPU: 1 PID: 0 Comm: swapper/1 Not tainted\n{stack}"
    ))
    .to_string()
}

#[test]
fn an_idle_thread_is_current_while_softirqs_and_interrupts_are_served() {
    let idle = "; CPU 1 was idle as it was looked at";
    let over = "; RCU's count shows an interrupt or a softirq over the idle thread of CPU 1, and the timer interrupt of the report \
                over that: which one is not shown";
    let cases = [
        ("", over),
        ("RIP: 0010:intel_idle+0x1/0x2\n", idle),
        (
            "RIP: 0010:handle_softirqs+0x1/0x2\n",
            "; CPU 1 served softirqs over its idle thread, in handle_softirqs",
        ),
        (
            "RIP: 0010:driver_isr+0x1/0x2\nCall Trace:\n <IRQ>\n do_event+0x1/0x2\n </IRQ>\n <TASK>\n default_idle+0x1/0x2\n",
            "; CPU 1 served an interrupt over its idle thread, in driver_isr, called from do_event, which interrupted default_idle",
        ),
        ("Call trace:\n rcu_sched_clock_irq+0x1/0x2\n gic_handle_irq+0x1/0x2\n", over),
        (
            "RIP: 0010:driver_clean+0x1/0x2\n",
            "; the idle thread of CPU 1 was current, in driver_clean: that is an interrupt or a softirq, unless it is of an idle state",
        ),
    ];
    for (stack, end) in cases {
        let said = idle_stall(stack);
        assert!(said.ends_with(end), "{said}");
    }
}

#[test]
fn a_lockup_over_an_idle_thread_may_be_of_softirqs() {
    let lockup = |stack: &str| {
        read(&format!("watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [swapper/3:0]\nCPU: 3 PID: 0 Comm: swapper/3\n{stack}"))
            .to_string()
    };
    let served = lockup(
        "RIP: 0010:poll+0x1/0x2\nCall Trace:\n <IRQ>\n net_rx_action+0x1/0x2\n handle_softirqs+0x1/0x2\n",
    );
    let meaning = "means that CPU 3 served softirqs over its idle thread, and switched to no other thread for 23 s (soft lockup); the stack of \
                   swapper/3 (0) on CPU 3 is poll, called from net_rx_action, handle_softirqs";
    assert!(served.ends_with(meaning), "{served}");
    for stack in ["", "RIP: 0010:intel_idle+0x1/0x2\n"] {
        assert!(
            lockup(stack).contains("did not run for 23 s while its idle task had it"),
            "{}",
            lockup(stack)
        );
    }
    let elsewhere = lockup("RIP: 0010:find_it+0x1/0x2 [driver]\n");
    let open = "; whether it served an interrupt or a softirq there is not shown; the stack of swapper/3 (0) on CPU 3 is find_it [driver]";
    assert!(elsewhere.ends_with(open) && !elsewhere.contains("lost"), "{elsewhere}");
}

#[test]
fn a_worker_thread_is_named_with_its_work_item() {
    let said = read(
        "watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [kworker/u3:1:73]\nCPU: 0 PID: 73 Comm: kworker/u3:1 Tainted: G\n\
         Workqueue: transport receive_work\nCall trace:\n clock_read+0x1/0x2\n",
    )
    .to_string();
    let end = "; the stack of kworker/u3:1 (73) on CPU 0 is clock_read; its work item is receive_work (workqueue transport)";
    assert!(said.ends_with(end), "{said}");
    // A stack without functions, below another message; and the panic that such a report brings about.
    let said = read(
        "BUG: workqueue lockup - pool cpus=0 node=0 stuck for 65s!\ntask:kworker/0:1  state:D stack:0 pid:\n72 ppid: 2\n\
         Workqueue: events toggle_work\nCall trace:\n __switch_to+0x1/0x2\nKernel panic - not syncing: hung_task: blocked tasks\n\
         CPU: 0 PID: 28 Comm: khungtaskd\nCall trace:\n dump_backtrace+0x0/0x1\n",
    )
    .to_string();
    assert!(
        said.contains("for 65 s; the work item of kworker/0:1 is toggle_work (workqueue events). Line"),
        "{said}"
    );
    assert!(said.contains("the stop follows from what was late") && !said.contains("crashed"), "{said}");
    let said = read(
        "rcu: INFO: rcu_sched self-detected stall on CPU\nrcu: \t2-....: (9 ticks this GP) idle=1/1/0x4 fqs=9\n\
         CPU: 2 PID: 9 Comm: kworker/2:1 Not tainted\nWorkqueue: events spin_work\nRIP: 0010:spin+0x1/0x2\n",
    )
    .to_string();
    let end = "; kworker/2:1 (9) ran on CPU 2, in spin; its work item is spin_work (workqueue events)";
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn where_interrupts_were_enabled_last_is_no_stack() {
    let events = "irq event stamp: 92\nhardirqs last  enabled at (91): [<c1>] unlock+0x36/0x60\n\
                  hardirqs last disabled at (92): [<c2>] lock+0x1d/0x50\nsoftirqs last  enabled at (78): [<c3>] do_softirq+0x1f/0x34\n\
                  softirqs last disabled at (65): [<c4>] irq_exit+0x125/0x130\n";
    let lockup =
        format!("[ 9.1] watchdog: BUG: soft lockup - CPU#2 stuck for 26s! [kworker/2:1:77]\n{events}");
    let said = read(&lockup).to_string();
    assert!(said.ends_with("served interrupts or stood still is not shown"), "{said}");
    let said = read(&format!(
        "{lockup}CPU: 2 PID: 77 Comm: kworker/2:1 Not tainted\nWorkqueue: events slow_work [driver]\n\
         RIP: 0010:poll_device+0x45/0x80 [driver]\nCall Trace:\n <TASK>\n slow_work+0x30/0x60 [driver]\n"
    ))
    .to_string();
    let end = "; the stack of kworker/2:1 (77) on CPU 2 is poll_device [driver], called from slow_work [driver]; its work item is slow_work (workqueue events)";
    assert!(said.ends_with(end), "{said}");
    // They stand above a message, too, of which nothing else is known.
    let mut log = KernelLog::of_stack(1, "softirqs last disabled at (65): [<c4>] irq_exit+0x125/0x130");
    log.line(2, "watchdog: BUG: soft lockup - CPU#8 stuck for 26s! [app:7]");
    assert!(log.to_string().ends_with("stood still is not shown"), "{log}");
}

#[test]
fn what_occupies_the_cpu_of_a_worker_pool_may_come_below_a_later_report() {
    let said = read(
        "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!\nShowing busy workqueues and worker pools:\n\
         BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 61s!\nWARNING: CPU: 0 PID: 1 at kernel/rcu/tree_stall.h:990 rcu_check_gp_start_stall+0x17f/0x2c0\n\
         CPU: 0 PID: 1 Comm: swapper Not tainted\nRIP: 0010:rcu_check_gp_start_stall+0x17f/0x2c0\nCall Trace:\n <IRQ>\n\
         ? rcu_check_gp_start_stall+0x8b/0x2c0\nrcu_core (kernel/rcu/tree.c:2463)\n__do_softirq (kernel/softirq.c:554)\n\
         sysvec_apic_timer_interrupt (arch/x86/kernel/apic/apic.c:1076 (discriminator 14))\n </IRQ>\n <TASK>\n\
         asm_sysvec_apic_timer_interrupt (arch/x86/include/asm/idtentry.h:649)\nRIP: 0010:load_entry (lib/entries.c:206)\n\
         one+0x1/0x2\ntwo+0x1/0x2\nthree+0x1/0x2\nfour+0x1/0x2\nfive+0x1/0x2\nself_test (lib/self_test.c:19)\n\
         do_one_initcall (init/main.c:1236)\n </TASK>\n",
    )
    .to_string();
    let end = "did not come to run for 61 s; the stack of swapper (1) on CPU 0 is load_entry, called from one, two, three, four, five; its \
               init call is self_test";
    assert!(said.ends_with(end), "{said}");
    // Of what sleeps elsewhere, or has another CPU, nothing is known to occupy this one.
    for owner in ["=== 3253: writer", "CPU: 4 PID: 9 Comm: app Not tainted"] {
        let said = read(&format!(
            "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 61s!\n{owner}\n[<0>] down_write+0x1/0x2\n"
        ))
        .to_string();
        assert!(said.ends_with("did not come to run for 61 s"), "{said}");
    }
}

#[test]
fn the_watchdog_of_sched_ext_is_not_the_stack_of_a_stall() {
    let said = read(
        "kworker/u16:0[220] triggered exit kind 1026:\n  runnable task stall (app[2412] failed to run for 5.525s)\n\nBacktrace:\n\
         scx_watchdog_workfn+0x158/0x1f0\n  process_one_work+0x18b/0x340\n\nCPU states\n----------\n\n\
         CPU 3   : nr_run=3 flags=0x9 cpu_rel=0\n          curr=audiod[583] class=rt_sched_class\n\n  R app[2412] -5525ms\n",
    )
    .to_string();
    let end = "means that app (2412) was runnable and did not run for 5.525 s, so that the BPF scheduler (sched_ext) was turned off; app was \
               in the runqueue of CPU 3, on which audiod (583) ran as the report was made: its class, rt_sched_class, comes before sched_ext";
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn of_old_sections_the_longest_counts_with_its_own_stack() {
    let section = |us: u32, function: &str, caller: &str| {
        format!(
            "(          app-86 |#0): new {us} us maximum-latency critical section.\n => started at timestamp 5046: <{function}+0x29/0x50>\n\
             =>   ended at timestamp 5068: <{function}+0x39/0x50>\n\nCall Trace:\n [<c01>] {function}+0x6b/0xc0\n [<c02>] {caller}+0x1/0x2\n\
             | preempt count: 00000001 ]\n| 1-level deep critical section nesting:\n.. [<ffffffff80157160>] .... nested+0xe0/0x180\n\
             .....[<00000000>] ..   ( <= _stext+0x7feff0e8/0xe8)\n"
        )
    };
    let text = [section(22, "first", "outer"), section(32, "second", "open"), section(9, "third", "close")];
    let said = read(&text.concat()).to_string();
    let end = "a section with preemption disabled of 32.00 us in app (86) on CPU 0, within second; the stack below it is second, called from \
               open";
    assert!(said.ends_with(end), "{said}");
}

#[test]
fn the_end_of_an_earlier_report_stands_above_a_message_that_is_cut() {
    let lines = [
        "5,41,100,-; read_lock+0x1/0x2",
        "5,42,101,-; check_all+0x1/0x2 [module]",
        "5,43,102,-; process_one_work+0x1/0x2",
        "0,44,20102,-;watchdog: BUG: soft lockup - CPU#8",
    ];
    let mut log = KernelLog::of_stack(1, lines[0]);
    assert!(!log.has_message());
    (2..).zip(&lines[1..]).for_each(|(number, line)| log.line(number, line));
    let said = "Its line 4 (\"watchdog: BUG: soft lockup - CPU#8\") means that CPU 8 did not run its watchdog for 20 s or more (soft lockup); \
                whether CPU 8 stayed in the kernel, served interrupts or stood still is not shown; an earlier report, of which the text has only \
                the end, may be of the same: its stack is read_lock, called from check_all [module], process_one_work";
    assert_eq!(log.to_string(), said);
}

proptest::proptest! {
    #[test]
    fn no_log_is_too_strange(pieces in proptest::collection::vec((0..PIECES.len(), "\\PC{0,6}"), 0..60)) {
        let text: String = pieces.iter().map(|(piece, other)| format!("{}{other}", PIECES[*piece])).collect();
        let said = read(&text).to_string();
        proptest::prop_assert!(said.is_empty() || said.starts_with("Its line "));
    }
}

/// What lines of a log consist of.
const PIECES: [&str; 42] = [
    "Workqueue: events work",
    "<IRQ>\n",
    "</IRQ>\n",
    "soft lockup - CPU#1 stuck for 22s! [swapper/1:0]",
    "\n",
    "\n> [  70.1][   C1] ",
    "\n001: ",
    "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]",
    "BUG: workqueue lockup - pool cpus=2 stuck for 35s!",
    "in-flight: 7:work BAR(3), ",
    "hard LOCKUP last heartbeat TB:88 (10ms ago)",
    "Oops: ",
    "+0x10/0x20",
    "spin",
    "? ",
    "[<c0aa2100>] (",
    ") from ",
    " kernel: ",
    ".isra.0",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "INFO: rcu_sched detected stalls on CPUs/tasks: { 1 P12} (detected by 0, t=7 jiffies",
    "rcu: 4-...!: (0 ticks this GP) rcuc=7 jiffies(starved)",
    "rcu_preempt kthread starved for 7 jiffies! ->state=0x0 ->cpu=0",
    "Tasks blocked on level-0 rcu_node (CPUs 0-3): P34",
    "INFO: task a:1 blocked for more than 120 seconds.",
    "INFO: task a:1 <reader> blocked on an rw-semaphore likely owned by task b:2 <writer>",
    "task:b state:D stack:0 pid:2",
    "app             D c0aa2100     0   621      2 0x00000000",
    "CPU: 1 PID: 484 Comm: app",
    "NMI backtrace for cpu 1",
    "Call Trace:",
    " rcu_sched_clock_irq",
    "RIP: 0033:",
    "workqueue: f hogged CPU for >10000us 4 times",
    "Marking clocksource 'tsc' skewed -7 ns () over watchdog 'hpet' interval of 5 ns",
    "Switched to clocksource hpet",
    "perf: interrupt took too long (2501 > 2500)",
    "csd: Detected non-responsive CSD lock (#1) on CPU#5, waiting 5000 ns for CPU#3 f+0x0/0x1",
    "local_softirq_pending 08",
    "(t = 7 jiffies g = -3",
    "All QSes seen, last rcu_preempt kthread activity 3 (7-4)",
    "INFO: NMI handler (f) took too long to run: 1.723 msecs",
];

#[test]
fn a_message_that_an_author_quotes_is_not_counted_beside_the_log_s_own() {
    let quoted =
        "I changed the config and then the kernel reports \"BUG: scheduling while atomic: mill/7/0x2\"";
    let own = "[ 3.64] BUG: scheduling while atomic: mill/7/0x00000002\n[ 3.65] CPU: 1 PID: 7 Comm: mill Not tainted";
    let said = |text: &str| {
        let mut log = KernelLog::default();
        text.lines().enumerate().for_each(|(at, line)| log.line(at as u64 + 1, line));
        log.to_string()
    };
    for text in [format!("{quoted}\n\n{own}\n"), format!("{own}\n{quoted}\n")] {
        let said = said(&text);
        assert!(
            said.contains("mill (7) was about to sleep on CPU 1") && !said.contains("the first of"),
            "{said}"
        );
        assert!(said.contains("(\"BUG: scheduling while atomic"), "{said}");
    }
    assert!(said(quoted).contains("line 1"));
}

#[test]
fn a_stall_whose_first_line_is_missing_shows_by_its_rows() {
    let cut = |stall: String| stall.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
    let said =
        read(&format!("sched: RT throttling activated\n{}", cut(stall("[ 9.1] ", 3, 5250, 7, "mill"))));
    let said = said.to_string();
    let meaning = "means that CPU 3 gave RCU no quiescent state for 5250 jiffies (RCU stall); mill (9) ran on CPU 3, in mill_spins";
    assert!(said.contains("(rt-throttled). Line 2 (\"rcu: ") && said.ends_with(meaning), "{said}");
    // The next report begins where the first has its time already.
    let twice = cut(stall("", 3, 5250, 7, "mill")) + &cut(stall("", 3, 21_003, 7, "mill"));
    let said = read(&twice).to_string();
    assert!(said.ends_with("in mill_spins; line 6 reports the same stall after 21003 jiffies"), "{said}");
    assert!(!read("as in row 3-....: (1 GPs behind) above\n").has_message());
}
