//! Reports of RCU stalls of several kernels.

use super::*;

fn read(text: &str) -> String {
    let (mut rcu, mut stacks) = (RcuStall::default(), LoggedStacks::default());
    for line in text.lines() {
        rcu.line(line);
        stacks.line(line);
    }
    let shown = rcu.shown(&stacks).join("; ");
    rcu.meaning(&stacks).map_or(shown.clone(), |meaning| format!("{meaning}; {shown}"))
}

#[test]
fn a_cpu_is_told_from_rcus_own_thread() {
    let cases = [
        // No quiescent state, and where the thread is.
        (
            "rcu: INFO: rcu_preempt self-detected stall on CPU\nrcu: 0-....: (5594 ticks this GP) idle=75a/1/0x4\n(t=5253 jiffies g=4205 q=12)\n\
                 Task dump for CPU 0:\nsh              R  running task        0  1315   1295 0x02\nCall trace:\n rcu_sched_clock_irq+0x1/0x2\n gic_handle_irq+0x1/0x2\n",
            "CPU 0 gave RCU no quiescent state for 5253 jiffies (RCU stall); sh (1315) ran on CPU 0, and its stack ends above what the report \
                 interrupted: where that was is not shown",
        ),
        // RCU's own thread is runnable.
        (
            "rcu: INFO: rcu_preempt self-detected stall on CPU\nrcu:     4-...!: (1 GPs behind) idle=9/1/0x4 fqs=20 rcuc=21071 jiffies(starved)\n\
                 rcu:     (t=21035 jiffies g=938281 q=40787 ncpus=6)\nrcu: rcu_preempt kthread starved for 20964 jiffies! g9 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=0\n",
            "RCU's own thread rcu_preempt was runnable and got no CPU time on CPU 0 for 20964 jiffies, and that CPU 4 gave RCU no quiescent \
                 state for 21035 jiffies (RCU stall); rcuc/4 did not run for 21071 jiffies; what ran on CPUs 0 and 4 is not \
                 shown",
        ),
        // It sleeps, and its timer is overdue.
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: 1-...!: (0 ticks this GP) idle=1/1/0x4\n(detected by 0, t=8137 jiffies, g=5889)\n\
                 Task dump for CPU 1:\ntask:migration/1     state:R  running task     stack:    0 pid:   19\nStopper: multi_cpu_stop+0x0/0x18c <- x\n\
                 rcu: rcu_preempt kthread timer wakeup didn't happen for 8136 jiffies! g5 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402\n\
                 rcu: rcu_preempt kthread starved for 8137 jiffies! g5 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402 ->cpu=1\n",
            "RCU's own thread rcu_preempt slept on CPU 1, and its timer had not ended that for 8136 jiffies, and that CPU 1 gave RCU no \
                 quiescent state for 8137 jiffies, nor took a timer tick (RCU stall); migration/1 (19) ran on CPU 1, in multi_cpu_stop",
        ),
        // It may have run itself.
        (
            "rcu_sched kthread starved for 999 jiffies! g1 f0x0 RCU_GP_DOING_FQS(6) ->state=0x0 ->cpu=10\n",
            "RCU's own thread rcu_sched ran or was runnable on CPU 10, and made no progress for 999 jiffies (RCU stall); what ran on CPU 10 is not shown",
        ),
        // The state stands in the row of the thread alone.
        (
            "rcu_sched kthread starved for 7 jiffies! g5\nrcu_sched     R  running task        0    10      2 0x0\n",
            "RCU's own thread rcu_sched was runnable and got no CPU time for 7 jiffies (RCU stall); ",
        ),
        (
            "rcu_sched kthread starved for 7 jiffies!",
            "RCU's own thread rcu_sched did not run for 7 jiffies (RCU stall); ",
        ),
        // Older kernels, expedited grace periods, readers.
        (
            "INFO: rcu_sched self-detected stall on CPU { 1}  (t=15000 jiffies g=1 c=0)\nNMI backtrace for cpu 1\nRIP: 0033:0x7f\n",
            "CPU 1 gave RCU no quiescent state for 15000 jiffies (RCU stall); the stack of CPU 1 shows user code",
        ),
        (
            "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 3-.... P12 } 21 jiffies s: 45 root: 0x8/.\nNMI backtrace for cpu 3 skipped: idling at x+0x1/0x2\n",
            "CPU 3 gave RCU no quiescent state for 21 jiffies, and that thread 12 was in a section that RCU waits for, and did not leave it (RCU \
                 stall); CPU 3 was idle as it was looked at",
        ),
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: Tasks blocked on level-0 rcu_node (CPUs 0-3): P34/1:b..l P5 (detected by 1, g=5\n",
            "threads 34, 5 were in sections that RCU waits for, and did not leave them (RCU stall); ",
        ),
        // The report has the name of one.
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: Tasks blocked on level-0 rcu_node (CPUs 0-3): P34/1:b..l P5\n\
                 (detected by 1, t=2102 jiffies, g=-863, q=61 ncpus=2)\ntask:app       state:D stack:0     pid:34   tgid:34\n",
            "threads app (34), 5 were in sections that RCU waits for, and did not leave them for 2102 jiffies (RCU stall); ",
        ),
        // The list is empty, and RCU's own thread came to run.
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: Tasks blocked on level-0 rcu_node (CPUs 0-3):\n\
                 (detected by 2, t=5250 jiffies, g=1809, q=1791)\n\
                 rcu: All QSes seen, last rcu_preempt kthread activity 3 (77-74), jiffies_till_next_fqs=1, root ->qsmask 0x0\n",
            "a thread that the report does not name was in a section that RCU waits for, and did not leave it for 5250 jiffies (RCU stall); \
                 RCU's own thread rcu_preempt had last run 3 jiffies before",
        ),
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n(detected by 2, t=5250 jiffies, g=1809, q=1791)\n\
                 rcu: All QSes seen, last rcu_preempt kthread activity 3 (77-74), jiffies_till_next_fqs=1, root ->qsmask 0x0\n",
            "a grace period did not end for 5250 jiffies; the report names no CPU and no thread that held it up, and RCU's own thread \
                 rcu_preempt last ran 3 jiffies before it (RCU stall); ",
        ),
        // A console that was read by machine.
        (
            "rcu: INFO: rcu_preempt self-detected stall on CPU\nrcu: $2-....: (3 GPs behind) idle=7d5c/1/0x4 softirq=0/0 f\n\
                 rcu: ( t = 2100l jiffies g = 3129 ncpus=4)\n",
            "CPU 2 gave RCU no quiescent state (RCU stall); what ran on CPU 2 is not shown",
        ),
        (
            "rcu: INFO: rcu_preempt self-detected stall on CPU\nrcu: 2-....: (3 GPs behind)\nrcu: t = 21003 jiffies g = 3129\n",
            "CPU 2 gave RCU no quiescent state for 21003 jiffies (RCU stall); what ran on CPU 2 is not shown",
        ),
        // The report doubts itself.
        (
            "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\nrcu: \t0-...!: (0 ticks this GP) idle=5fc/0/0x0 fqs=0  (false positive?)\n\
                 NMI backtrace for cpu 0 skipped: idling at native_safe_halt+0xe/0x20\n",
            "CPU 0 gave RCU no quiescent state, nor took a timer tick (RCU stall); the report itself marks CPU 0 as a possible false alarm; \
                 CPU 0 was idle as it was looked at",
        ),
        // Idle, as RCU saw it.
        (
            "INFO: rcu_sched detected stalls on CPUs/tasks:\n\t3-...: (7 ticks this GP) idle=400/0/0 softirq=3/3 fqs=1\n\t5-...: (9 ticks this GP) idle=401/140000000000001/0\n",
            "CPUs 3 and 5 gave RCU no quiescent state (RCU stall); CPU 3 was idle, so no thread kept RCU waiting there: a timer interrupt, or \
                 a wake-up of RCU's own thread, was lost or late; what ran on CPU 5, or whether interrupts were disabled there, is not shown",
        ),
        // So it was, beside a stack of no function.
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: \t2-...!: (0 ticks this GP) idle=3d4/0/0x0 softirq=3/3 fqs=0\nTask dump for CPU 2:\n\
             swapper/2       R  running task        0     0      1 0x00000028\nCall trace:\n __switch_to+0x2c4/0x2e8\n table.4711+0x16ba98/0x1a0c0c\n",
            "CPU 2 gave RCU no quiescent state, nor took a timer tick (RCU stall); CPU 2 was idle, so no thread kept RCU waiting there: a timer \
                 interrupt, or a wake-up of RCU's own thread, was lost or late",
        ),
        // Interrupts or softirqs over the idle thread, as RCU counted them.
        (
            "INFO: rcu_sched self-detected stall on CPU\n\t2-...: (1 GPs behind) idle=3d1/2/0 softirq=3/4 fqs=9\n\t (t=2100 jiffies g=9 c=8 q=1)\n\
             Task dump for CPU 2:\nswapper/2       R running      0     0      1 0x00000002\nBacktrace:\n(dump_backtrace) from [<8>] (show_stack+0x1/0x2)\n",
            "CPU 2 gave RCU no quiescent state for 2100 jiffies (RCU stall); RCU's count shows an interrupt or a softirq over \
                 the idle thread of CPU 2, and the timer interrupt of the report over that: which one is not shown",
        ),
        (
            "INFO: rcu_sched self-detected stall on CPU\n\t2-...: (1 GPs behind) idle=3d1/1/0 softirq=3/4 fqs=9\nTask dump for CPU 2:\n\
             swapper/2       R running      0     0      1 0x00000002\n",
            "CPU 2 gave RCU no quiescent state (RCU stall); the idle thread of CPU 2 was current, and what the report interrupted there is not \
                 shown",
        ),
        (
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: \t2-....: (1 GPs behind) idle=3d15/0/0x1 softirq=3/4 fqs=9\n",
            "CPU 2 gave RCU no quiescent state (RCU stall); RCU's count shows an interrupt or a softirq over the idle thread of \
                 CPU 2: which one is not shown",
        ),
        // Nothing but the message.
        ("rcu: INFO: rcu_preempt self-detected stall on CPU", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_second_report_is_not_of_the_first() {
    let mut rcu = RcuStall::default();
    rcu.line("INFO: rcu_sched self-detected stall on CPU { 1}");
    rcu.ends();
    assert!(!rcu.line("rcu: 3-....: (1 GPs behind)"));
    assert_eq!(
        rcu.meaning(&LoggedStacks::default()).as_deref(),
        Some("CPU 1 gave RCU no quiescent state (RCU stall)")
    );
}

#[test]
fn all_cpus_are_listed() {
    let rows = |cpus: std::ops::Range<u32>| {
        cpus.map(|cpu| format!("rcu: {cpu}-....: (3 GPs behind)\n")).collect::<String>()
    };
    let nine = read(&rows(0..9));
    assert!(nine.starts_with("CPUs 0, 1, 2, 3, 4, 5, 6, 7 and 8 gave RCU"), "{nine}");
    assert!(read(&rows(2..40)).starts_with("CPUs 2-39 gave RCU"));
    let readers = read("rcu: Tasks blocked on level-0 rcu_node (CPUs 0-7): P1 P2 P3 P4 P5 P6 P7 P8 P9 P10\n");
    assert!(readers.contains("8, and 2 more were in sections"), "{readers}");
}

#[test]
fn two_reports_of_a_stall_show_seconds() {
    let report = |stamp: &str, jiffies: u64| {
        format!(
            "[ {stamp}] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\n\
             [ {stamp}] rcu: \t2-...0: (1 ticks this GP) idle=12c/1/0x4000000000000000 softirq=5/6 fqs=7\n\
             [ {stamp}] rcu: \t(detected by 0, t={jiffies} jiffies, g=41, q=3 ncpus=4)\n"
        )
    };
    let shown = |text: &str| {
        let mut log = crate::text::KernelLog::default();
        (1..).zip(text.lines()).for_each(|(number, line)| log.line(number, line));
        log.to_string()
    };
    let one = report("80.100000", 15_000);
    let both = shown(&format!("{one}{}", report("143.200000", 30_750)));
    assert!(both.contains("no quiescent state for 15000 jiffies (60.000 s) (RCU stall)"), "{both}");
    assert!(both.contains("reports the same stall after 30750 jiffies (123.000 s)"), "{both}");
    assert!(shown(&one).contains("for 15000 jiffies (RCU stall)"));
}

#[test]
fn the_cpu_of_a_late_timer_is_that_of_the_report() {
    let means = read(
        "rcu: rcu_sched kthread timer wakeup didn't happen for 5251 jiffies! g60 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402\n\
         rcu: \tPossible timer handling issue on cpu=3 timer-softirq=34\n",
    );
    let slept = "RCU's own thread rcu_sched slept on CPU 3, and its timer had not ended that for 5251 jiffies (RCU stall)";
    assert!(means.starts_with(slept), "{means}");
}
