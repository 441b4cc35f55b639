//! Lists of delays, as their programs print them.

use super::Cases;

fn known(text: &str) -> (&'static str, Option<String>) {
    let mut lines = (1..).zip(text.lines());
    let mut cases = lines.find_map(|(number, line)| Cases::beginning(number, line)).expect("a list");
    lines.for_each(|(number, line)| cases.line(number, line));
    (cases.what(), cases.known())
}

#[test]
fn the_largest_delay_of_each_list_is_known() {
    let cases = [
        (
            "TIME     COMM             PID           LAT(us)\n10:00:07 kworker/0:1      812              7500\n\
             10:00:08 my app           9                2000\n",
            "runqslower",
            "the largest of its 2 delays is 7.50 ms (line 2: \"10:00:07 kworker/0:1 812 7500\")",
        ),
        (
            "TIME     COMM             TID           LAT(us) PREV COMM        PREV TID\n10:00:07 my app 812 750 other 99999\n",
            "runqslower",
            "the only delay in it is 750.0 us (line 2: \"10:00:07 my app 812 750 other 99999\")",
        ),
        (
            "Tracing softirq latency higher than 10 us...\n10:00:07 irq(hard) to softirq: rcu took 12 us (0 ms), on CPU:1, comm:a\n\
             10:00:09 softirq runtime: sched took 290 us (0 ms), on CPU:3, comm:b\n",
            "softirqslower",
            "the largest of its 2 delays is 290.0 us (line 3: \"10:00:09 softirq runtime: sched took 290 us (0 ms), on CPU:3, comm:b\")",
        ),
        (
            "TIME     STAGE                SOFTIRQ  LAT(us)        CPU    COMM\n10:00:07 irq(hard) to softirq net_rx   410            1      app\n",
            "softirqslower",
            "the only delay in it is 410.0 us (line 2: \"10:00:07 irq(hard) to softirq net_rx 410 1 app\")",
        ),
        (
            "Finding critical section with IRQ disabled for > 100us\nTASK: app          (pid   12 ) Total Time: 150.25us\n",
            "criticalstat",
            "the only delay in it is 150.2 us (line 2: \"TASK: app (pid 12 ) Total Time: 150.25us\"), in a section with interrupts disabled",
        ),
        (
            "Finding critical section with preempt disabled for > 400us\n===\nTASK: crtc:7       (pid   24 tid   24) Total Time: 430.120  us\n\n\
             Section start: take_it -> enable\nSection end:   _raw_spin_unlock -> enable\n  trace_preempt_on+0xdc\n  _raw_spin_unlock+0x24\n  \
             enable+0x80\n===\nTASK: b  (pid 9 tid 9) Total Time: 410.1 us\nSection start: c -> d\nSection end: e -> f\n",
            "criticalstat",
            "the largest of its 2 delays is 430.1 us (line 3: \"TASK: crtc:7 (pid 24 tid 24) Total Time: 430.120 us\"), in a section with \
             preemption disabled, from take_it -> enable to _raw_spin_unlock -> enable; the stack at its end is _raw_spin_unlock, called \
             from enable",
        ),
        (
            "trace_irqoff_latency: 8ms\nhardirq:\nsoftirq:\ncpu: 3\n  COMMAND: app PID: 7 LATENCY: 9ms\n  f+0x1/0x2\ncpu: 4\n\
             COMMAND: app PID: 7 LATENCY: 8ms\n",
            "trace-irqoff",
            "the largest of its 2 delays is 9.00 ms on CPU 3 (line 5: \"COMMAND: app PID: 7 LATENCY: 9ms\"), in its list `softirq`, so softirqs \
             did not run",
        ),
    ];
    for (text, what, expected) in cases {
        let (name, known) = known(text);
        assert!(name.contains(what), "{name}");
        assert_eq!(known.as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn perf_trace_has_a_delay_where_a_switch_follows_a_wake_up() {
    let quoted = "     0.000 sched:sched_wakeup(comm: \"app\", pid: 12 (app), prio: 9, success: 1, target_cpu: 6)\n\
                  0.250 :0/0 sched:sched_switch(prev_comm: \"swapper/6\", prev_pid: 0, prev_prio: 120, prev_state: 0, next_comm: \"app\", next_pid: 12 (app), next_prio: 9)\n";
    let plain = "     0.000 sched:sched_wakeup(comm=app pid=12 prio=9 target_cpu=006)\n\
                 0.250 sched:sched_switch(prev_comm=swapper/6 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=12 next_prio=9)\n";
    for text in [quoted, plain] {
        let (what, known) = known(text);
        assert!(what.contains("perf trace") && what.contains("CPU"), "{what}");
        let expected = "the largest of the 1 delays from a wake-up to the next switch to that thread is 250.0 us, of app (12), until 0.250 ms";
        assert_eq!(known.as_deref(), Some(expected));
    }
    // The thread ran on as it was woken.
    let (_, known) = known(
        "0.000 sched:sched_wakeup(comm: \"app\", pid: 12 (app), prio: 9)\n\
         0.250 sched:sched_switch(prev_comm: \"app\", prev_pid: 12 (app), prev_state: 1, next_comm: \"b\", next_pid: 3)\n\
         0.900 sched:sched_switch(prev_comm: \"b\", prev_pid: 3, next_comm: \"app\", next_pid: 12 (app))\n",
    );
    assert!(known.is_some_and(|known| known.starts_with("the switch to the thread of its only wake-up is missing")));
}

#[test]
fn prose_and_other_lines_begin_no_list() {
    for line in
        ["0.250 f(a, b) = 3", "sched:sched_switch(prev_comm", "1.5 sched:sched_switch(prev", "COMM LAT(us)"]
    {
        assert_eq!(Cases::beginning(1, line), None, "{line}");
    }
}
