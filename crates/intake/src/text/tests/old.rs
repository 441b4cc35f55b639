//! Texts of kernels of 2004 to 2009, and headers of which lines are missing.

use super::*;
use whylate_events::{LatencyTrace, LatencyTracer, Switch};

/// As `/proc/latency_trace` was: a header without `#`, priorities in hexadecimal.
const OF_2006: &str = "preemption latency trace v1.1.5 on 2.6.16\n\
    --------------------------------------------------------------------\n\
     latency: 2113 us, #9/9, CPU#0 | (M:rt VP:0, KP:0, SP:0 HP:0)\n\
        -----------------\n\
        | task: player-260 (uid:1000 nice:0 policy:1 rt_prio:80)\n\
        -----------------\n\n\
                     _------=> CPU#\n\
                    / _-----=> irqs-off\n\
       cmd     pid ||||| time  |   caller\n\
          \\   /    |||||   \\   |   /\n\
    linker-267     0d.h5    0us : __trace_start_sched_wakeup (try_to_wake_up)\n\
    linker-267     0d.h5    1us : __trace_start_sched_wakeup <<...>-260>\n\
    (13 0)\n\
    linker-267     0dn.2   16us < (2097760)\n\
    linker-267     0dn.2   17us : preempt_schedule (find_page)\n\
    linker-267     0dn.2 2100us : put_page (free_file)\n\
    linker-267     0dn.. 2104us : schedule (preempt_schedule)\n\
       <...>-260   0d..2 2106us+: __switch_to (schedule)\n\
       <...>-260   0d..2 2109us : schedule <linker-267> (76 13)\n\
       <...>-260   0d..1 2110us : trace_stop_sched_switched (schedule)\n";

fn latency(text: &str) -> (Vec<Event>, LatencyTrace, TraceInfo) {
    let (events, info) = all(text);
    let latency = info.latency.clone().unwrap_or_else(|| panic!("no latency trace: {text}"));
    (events, latency, info)
}

#[test]
fn a_latency_trace_of_2006_has_its_wake_up_and_its_switch() {
    let (events, latency, info) = latency(OF_2006);
    assert_eq!(
        (latency.tracer, latency.latency, latency.cpu, latency.entries),
        (LatencyTracer::Wakeup, Ns::from_us(2_113), Cpu(0), Some(9))
    );
    assert_eq!(latency.task.map(|task| (task.tid, task.rt_priority)), Some((Tid(260), 80)));
    assert_eq!(
        (info.format.as_str(), info.kernel_release.as_deref(), info.events),
        // A system call has no colon behind its time, and is no event.
        ("preemption latency trace v1.1.5", Some("2.6.16"), 8)
    );
    let woken = events.iter().find_map(|event| match event.kind {
        Wakeup { wake, .. } => Some((event.ts, event.context.tid, wake.tid, wake.prio)),
        _ => None,
    });
    // Its two numbers stand in a line that a mail program broke off.
    assert_eq!(woken, Some((Ns::from_us(1), Tid(267), Tid(260), Priority(19))));
    let switched: Vec<(Ns, Switch)> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Switch(switch) => Some((event.ts, switch)),
            _ => None,
        })
        .collect();
    let [(at, switch)] = switched.as_slice() else { panic!("{switched:?}") };
    assert_eq!(
        (
            *at,
            switch.prev_tid,
            switch.prev_comm.as_str(),
            switch.prev_prio,
            switch.next_tid,
            switch.next_prio
        ),
        (Ns::from_us(2_109), Tid(267), "linker", Priority(118), Tid(260), Priority(19))
    );
    let functions = events.iter().filter(|event| matches!(event.kind, Function { .. })).count();
    assert_eq!(functions, 6, "function (caller)");
}

#[test]
fn a_critical_section_of_2006_shows_which_of_the_two_was_off() {
    let ends = "     => started at: do_poll+0x30/0xf4 <f89d9ff8>\n     => ended at:   __schedule+0x680/0x70e <c032a74c>\n";
    let text = OF_2006.replace("\n\n", &format!("\n{ends}\n"));
    let (_, section, _) = latency(&text);
    assert_eq!(
        (section.tracer, section.started_at.as_deref(), section.ended_at.as_deref()),
        (LatencyTracer::Irqsoff, Some("do_poll"), Some("__schedule"))
    );
    let (_, section, _) = latency(&text.replace(" 0d", " 0."));
    assert_eq!(section.tracer, LatencyTracer::Preemptoff);
}

#[test]
fn the_headers_of_2_6_26_have_marks_on_some_lines_only() {
    let lines = "latency: 31 us, #3/3, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n-----------------\n\
        | task: sh-3730 (uid:0 nice:0 policy:0 rt_prio:0)\n-----------------\n => started at: sys_setsid\n => ended at:   sys_setsid\n";
    let rows = "      sh-3730  1d...    0us : _write_lock_irq (sys_setsid)\n      sh-3730  1d..1   31us : trace_hardirqs_on (sys_setsid)\n";
    for (title, tracer) in [
        ("preemptirqsoff latency trace v1.1.5 on 4.9.1\n", LatencyTracer::Irqsoff),
        ("# tracer: irqsoff\nirqsoff latency trace v1.1.5 on 2.6.26\n", LatencyTracer::Irqsoff),
        ("# tracer: irqsoff\n# irqsoff latency trace v1.1.5 on 2.6.26\n", LatencyTracer::Irqsoff),
        ("preemptoff latency trace v1.1.5 on 2.6.26\n", LatencyTracer::Preemptoff),
    ] {
        let (_, section, _) = latency(&format!("{title}{lines}\n{rows}"));
        assert_eq!(
            (section.tracer, section.latency, section.cpu),
            (tracer, Ns::from_us(31), Cpu(1)),
            "{title}"
        );
        assert_eq!(section.task.map(|task| task.tid), Some(Tid(3730)));
        assert_eq!(section.started_at.as_deref(), Some("sys_setsid"));
    }
}

#[test]
fn the_line_with_the_tracer_stands_for_a_missing_title() {
    let head = "# tracer: wakeup_rt\n#\n# latency: 158 us, #3/3, CPU#1 | (M:PREEMPT(lazy) VP:0, KP:0, SP:0 HP:0 #P:24)\n\
        # task: collect-964 (uid:0 nice:5 policy:2 rt_prio:99)\n\n";
    let lines = "  <idle>-0    1dNh3.    0us+: 0:120:R + [001] 964:0:R collect\n";
    let (events, latency, info) = latency(&format!("{head}{lines}"));
    assert_eq!(
        (latency.tracer, latency.latency, latency.cpu),
        (LatencyTracer::WakeupRt, Ns::from_us(158), Cpu(1))
    );
    assert_eq!(latency.task.map(|task| task.tid), Some(Tid(964)), "and not the waker of the first line");
    assert_eq!(info.format, "wakeup_rt without its title");
    assert!(events.iter().any(|event| matches!(event.kind, Wakeup { .. })));
    // Of another tracer, and without one, such a line is no header.
    for other in ["# tracer: function", "# a comment"] {
        let (_, info) = all(&format!("{head}{lines}").replace("# tracer: wakeup_rt", other));
        assert_eq!(info.latency, None, "{other}");
    }
}

#[test]
fn a_header_may_have_lost_its_marks() {
    // A page took `#` for a heading's mark.
    let text = "wakeup_rt latency trace v1.1.5 on 6.6.1\nlatency: 70 us, #2/2, CPU#2 | (M:preempt VP:0)\n\
        | task: loop-12 (uid:0 nice:0 policy:1 rt_prio:50)\n  sh-9   2d.h4    1us : 9:120:R + [002] 12:49:R loop\n";
    let (_, latency, _) = latency(text);
    assert_eq!((latency.latency, latency.task.map(|task| task.tid)), (Ns::from_us(70), Some(Tid(12))));
    // Without the title before it, it may be anything.
    let (_, info) = all(text.split_once('\n').map_or("", |(_, rest)| rest));
    assert_eq!(info.latency, None);
}

#[test]
fn events_of_the_scheduler_as_2009_printed_them() {
    let switch =
        "panel-4569 [000] 1494.663928373: sched_switch: task my panel:4569 [120] (S) ==> swapper:0 [140]";
    let EventKind::Switch(switch) = one(switch).kind else { panic!("{switch}") };
    assert_eq!(
        (switch.prev_comm.as_str(), switch.prev_tid, switch.prev_prio, switch.prev_state),
        ("my panel", Tid(4569), Priority(120), TaskState::Interruptible)
    );
    assert_eq!((switch.next_comm.as_str(), switch.next_tid), ("swapper", Tid(0)));
    let wake = "Xorg-4276 [001] 1504.098252756: sched_wakeup: task my panel:4569 [120] success=1 [003]";
    let Wakeup { wake, .. } = one(wake).kind else { panic!("{wake}") };
    assert_eq!((wake.comm.as_str(), wake.tid, wake.target_cpu), ("my panel", Tid(4569), Cpu(3)));
    let fields =
        "make-31  [000]  40.100200: sched_wakeup:          comm=my panel pid=4569 prio=120 success=1 cpu=3";
    let Wakeup { wake, .. } = one(fields).kind else { panic!("{fields}") };
    assert_eq!((wake.comm.as_str(), wake.tid, wake.target_cpu), ("my panel", Tid(4569), Cpu(3)));
    // A thread's name may begin with the word.
    let now = "a-1 [000] 1.000000: sched_switch: task x:7 [120] S ==> swapper/0:0 [120]";
    assert!(matches!(one(now).kind, EventKind::Switch(switch) if switch.prev_comm.as_str() == "task x"));
}

#[test]
fn an_event_may_have_lost_the_colon_behind_its_name() {
    let wake = "kworker/u16:5-192    [002]   304.583377:  sched_wakeup comm=irq/343-usb  pid=201  prio=49  success=1  target_cpu=2";
    let Wakeup { wake, .. } = one(wake).kind else { panic!("{wake}") };
    assert_eq!((wake.comm.as_str(), wake.tid, wake.target_cpu), ("irq/343-usb", Tid(201), Cpu(2)));
    let entry = one("kworker/u16:5-192    [002]   304.583354:  irq_handler_entry   irq=343 name=usb");
    assert!(matches!(entry.kind, EventKind::IrqEntry { irq: 343, .. }), "{entry:?}");
    assert_eq!(one("a-1 [002] 304.583354: do_it a=1").kind, Other);
}

#[test]
fn the_format_of_2004_has_its_unit_in_latin_1_and_no_state_of_the_scheduler() {
    let text = "preemption latency trace v1.1.3 on 2.6.10\n\
         latency: 5 us, #22/22 | (M:rt VP:0, KP:1, SP:1 HP:1 #P:1)\n\
            | task: server-3215 (uid:0 nice:-1 policy:0 rt_prio:0)\n\
           mail-3488  0-h.2    0\u{b5}s : __trace_start_sched_wakeup (try_to_wake_up)\n\
           mail-3488  0        0\u{fffd}s : __wake_up_common <server-3215> (72 74):\n\
           mail-3488  0d.s1    1\u{b5}s!: __schedule (preempt_schedule)\n\
         server-3215  0-..2    3\u{b5}s : __switch_to (__schedule)\n\
         server-3215  0        4\u{b5}s : schedule <mail-3488> (74 72):\n";
    let (events, latency, info) = latency(text);
    assert_eq!((latency.latency, info.events), (Ns::from_us(5), 5));
    // The header's fact stands before them.
    let lines = events.iter().filter(|event| !matches!(event.kind, EventKind::Marker(_)));
    let states: Vec<_> = lines.map(|event| event.context.flags).collect();
    assert!(states[0].in_interrupt() && !states[0].irqs_off(), "{states:?}");
    assert!(states[2].irqs_off() && states[2].contains(ContextFlags::SOFTIRQ), "{states:?}");
    assert!(states[1].contains(ContextFlags::IRQS_UNKNOWN), "{states:?}");
    assert!(
        events.iter().any(|event| matches!(event.kind, Wakeup { wake, .. } if wake.tid == Tid(3215))),
        "{events:?}"
    );
    assert!(events.iter().any(|event| matches!(event.kind, EventKind::Switch(_))), "{events:?}");
}

#[test]
fn the_formats_of_summer_2004_have_neither_cpu_nor_thread_in_their_lines() {
    let text = "preemption latency trace v1.0.1\n\
                \x20latency: 751 us, entries: 3 (31)\n    | task: kworker/12, uid:0 nice:-10 policy:0 rt_prio:0\n\
                \x20=> started at: disk_read+0x6b/0xf7\n => ended at:   disk_read+0xc8/0xf7\n=======>\n\
                00000001 0.000ms (+0.001ms): disk_read (disk_handler)\n\
                00010002 0.750ms (+0.000ms): do_IRQ (disk_read)\n\
                04000101 0.751ms (+0.000ms): __do_softirq (do_softirq)\n";
    let (events, latency, info) = latency(text);
    assert_eq!((latency.latency, latency.entries, info.kernel_release), (Ns::from_us(751), Some(31), None));
    let task = latency.task.map(|task| (task.tid, task.comm.to_string()));
    assert_eq!(
        (latency.tracer, task),
        (LatencyTracer::Preemptirqsoff, Some((Tid(12), "kworker".to_owned())))
    );
    assert_eq!(latency.started_at.as_deref(), Some("disk_read"));
    let lines: Vec<_> = events.iter().map(|event| (event.ts, event.context.flags.in_interrupt())).collect();
    assert_eq!(lines, [(Ns(0), false), (Ns::from_us(750), true), (Ns::from_us(751), true)]);
    assert!(events.iter().all(|event| event.context.flags.contains(ContextFlags::IRQS_UNKNOWN)));
    // With verbose, of a wake-up.
    let text = "preemption latency trace v1.0.7 on 2.6.10-rc1\n\
                \x20latency: 133 us, entries: 2 (2)   |   [VP:0 KP:1 SP:1 HP:1 #CPUS:1]\n\
                \x20   | task: IRQ 15/19, uid:0 nice:-10 policy:1 rt_prio:46\n\
                \x20=> started at: try_to_wake_up+0x5a/0x110 <c0115f1a>\n => ended at:   finish_task_switch+0x51/0xc0\n\
                \x20   7 80000000 00000000 [0284618592175289] 0.000ms (+0.127ms): irq_exit+0xb/0x50 <c0> (do_IRQ+0x5/0x7 <c1>)\n\
                \x20   7 80000000 00000001 [0284618592387634] 0.127ms (+0.000ms): do_IRQ+0x0/0x70 <c2> (<0000a253>)\n";
    let (events, latency, _) = self::latency(text);
    assert_eq!(latency.tracer, LatencyTracer::Wakeup);
    assert_eq!(latency.task.map(|task| (task.tid, task.rt_priority)), Some((Tid(19), 46)));
    assert!(
        events.iter().any(|event| event.context.tid == Tid(7) && event.ts == Ns::from_us(127)),
        "{events:?}"
    );
}

#[test]
fn the_formats_of_autumn_2004_have_the_thread_in_their_lines() {
    let text = "preemption latency trace v1.0.7 on 2.6.10-rc1\n\
                \x20latency: 1250 us, entries: 3 (3)   |   [VP:0 KP:1 SP:1 HP:1 #CPUS:1]\n\
                \x20   | task: IRQ 4/9, uid:0 nice:0 policy:1 rt_prio:90\n\
                \x20=> started at: try_to_wake_up+0x51/0x170 <c010f3a1>\n => ended at:   finish_task_switch+0x51/0xb0 <c010f911>\n=======>\n\
                \x20   7 80010004 0.000ms (+0.000ms): trace_start_sched_wakeup (try_to_wake_up)\n\
                \x20   7 80000002 0.001ms (+1.248ms): __do_softirq (do_softirq)\n\
                \x20   9 80000002 1.250ms (+0.000ms): __switch_to (__schedule)\n";
    let (events, latency, _) = latency(text);
    assert_eq!((latency.tracer, latency.latency), (LatencyTracer::Wakeup, Ns::from_us(1_250)));
    // The header's priority is a fact before them.
    let lines = events.iter().filter(|event| !matches!(event.kind, EventKind::Marker(_)));
    let lines: Vec<_> = lines.map(|event| (event.ts, event.context.tid)).collect();
    let us = |us: i64| Ns(us * 1_000);
    assert_eq!(lines, [(us(0), Tid(7)), (us(1), Tid(7)), (us(1_250), Tid(9))]);
    // The times of a further one are its own.
    let (_, of_two, info) =
        self::latency(&format!("{text}==================\n{}", text.replace("1250 us", "2480 us")));
    assert_eq!((of_two.latency, info.events), (Ns::from_us(1_250), 3));
    let more = "1 more latency traces follow the first, with a latency of 2.48 ms";
    assert!(info.damage.iter().any(|damage| damage.what.contains(more)), "{:?}", info.damage);
}

#[test]
fn a_program_that_measures_itself_is_no_critical_section() {
    let text = "preemption latency trace v1.1.4 on 2.6.10-rc3\n\
                latency: 421 us, #9/9, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n\
                \x20   | task: meter-143 (uid:0 nice:0 policy:1 rt_prio:99)\n\
                \x20=> started at: <00000000>\n => ended at:   restore_all+0x5/0x21 <c0104000>\n\
                meter-143 0...1    0us : user_trace_start (sys_gettimeofday)\n\
                meter-143 0d.h.   50us : do_IRQ (8049af8 a 0)\n";
    let source = open(text.as_bytes().to_vec(), io::empty(), KindSet::ALL).expect("a trace");
    assert_eq!(source.info().latency, None);
}

#[test]
fn priorities_that_linux_does_not_have_are_not_used() {
    let text = |idle: i32| {
        format!(
            " w-9 (   2) [001] .... 1.000070: sched_switch: prev_comm=w prev_pid=9 prev_prio=51 prev_state=R ==> \
             next_comm=idle/1 next_pid=0 next_prio={idle}\n\
             \x20r-8 (   8) [002] .... 1.000080: sched_wakeup: comm=w pid=9 prio=51 target_cpu=001\n"
        )
    };
    let priorities = |text: String| {
        let mut source = open(text.into_bytes(), io::empty(), KindSet::ALL).expect("a trace");
        let mut priorities = Vec::new();
        while let Some(event) = source.next_event() {
            match event.kind {
                EventKind::Switch(switch) => priorities.extend([switch.prev_prio, switch.next_prio]),
                Wakeup { wake, .. } => priorities.push(wake.prio),
                _ => {}
            }
        }
        (priorities, source.info().damage.len())
    };
    assert_eq!(priorities(text(120)), (vec![Priority(51), Priority(120), Priority(51)], 0));
    assert_eq!(priorities(text(-1)), (vec![Priority::UNKNOWN; 3], 1));
}

/// Their header is above the text, and their times count from another begin.
#[test]
fn rows_above_an_old_header_are_of_another_trace() {
    let rows = |at: u32| format!("00000001 0.{at:03}ms (+0.007ms): take_oil (pump_read)\n");
    let text = format!(
        "{}{}\n#2\n\npreemption latency trace v1.0.2\n-------------------\n latency: 567 us, entries: 2 (2)\n\
         | task: pump/31, uid:0 nice:10 policy:0 rt_prio:0\n => started at: schedule+0x51/0x7b0\n => ended at: schedule+0x35b/0x7b0\n{}{}",
        rows(6),
        rows(607),
        rows(0),
        rows(567)
    );
    let (events, latency, info) = latency(&text);
    let times: Vec<Ns> = events.iter().map(|event| event.ts).collect();
    assert_eq!((times, latency.latency), (vec![Ns::ZERO, Ns::from_us(567)], Ns::from_us(567)));
    let words = "2 rows above this header are of another trace";
    assert!(info.damage.iter().any(|damage| damage.what.starts_with(words)), "{:?}", info.damage);
    assert!(!info.damage.iter().any(|damage| damage.what.contains("backwards")), "{:?}", info.damage);
}

#[test]
fn the_index_in_front_of_a_buffered_line_is_no_part_of_a_name() {
    let text = "preemption latency trace v1.1.4 on 2.6.12\n\
         latency: 1820 us, #46/46, CPU#0 | (M:preempt VP:0, KP:1, SP:1 HP:1 #P:1)\n\
            | task: ksoftirqd/0-2 (uid:0 nice:-10 policy:0 rt_prio:0)\n\
         (T1/#2)          kswapd0    66 0 9 00000002 00000002 [0038065890208522] 0.000ms (+0.000ms): \
         wake_up_process+0x1c/0x30 <c010fabc> (do_softirq+0x4b/0x60 <c01047bb>)\n\
         (T2/#5)  kswapd0-66    0dnh2  978us : do_IRQ+0x2d/0x80 <c010467d> (c014e3d0 0 0)\n\
         (T3/#42)    <...>-2     0d..2 1816us : __schedule+0x356/0x710 <c02a7ea6> <kswapd0-66> (73 69):\n";
    let mut source = open(text.as_bytes().to_vec(), io::empty(), KindSet::ALL).expect("a trace");
    let mut events = Vec::new();
    while let Some(event) = source.next_event() {
        events.push(*event);
    }
    let tids: Vec<i32> = events.iter().map(|event| event.context.tid.0).collect();
    assert!(tids.ends_with(&[66, 66, 2]) && !tids.contains(&-1), "{events:?}");
    let switched =
        |event: &Event| matches!(event.kind, EventKind::Switch(switch) if switch.prev_tid == Tid(66));
    assert!(events.last().is_some_and(switched), "{events:?}");
    assert!(source.comms().contains(&(Tid(66), Comm::from("kswapd0"))), "{:?}", source.comms());
}

#[test]
fn the_end_of_a_critical_section_shows_its_length_without_a_header() {
    let text = "      sh-65        1d..2. 1491us : rpm_suspend <-pm_suspend\n\
                \x20     sh-65        1d..1. 1529us : _raw_spin_unlock_irqrestore <-uart_write\n\
                \x20     sh-65        1d..1. 1533us+: tracer_hardirqs_on <-uart_write\n\
                \x20     sh-65        1d..1. 1544us : <stack trace>\n => uart_write\n => n_tty_write\n";
    let (events, latency, info) = latency(text);
    assert_eq!(
        (latency.tracer, latency.latency, latency.cpu),
        (LatencyTracer::Irqsoff, Ns::from_us(1533), Cpu(1))
    );
    assert_eq!(latency.ended_at.as_deref(), Some("uart_write"));
    assert_eq!(latency.task.map(|task| task.tid), Some(Tid(65)));
    assert_eq!(info.format, "irqsoff without its header");
    assert!(events.len() >= 4, "{events:?}");
    // Of other tracers, and in the middle of a text, such a line is a function's.
    for other in [
        format!("{text}      sh-65        1d..1. 1550us : do_it <-uart_write\n"),
        text.replace("1533us+", "12.345678"),
        format!("# tracer: wakeup\n{text}"),
    ] {
        assert!(all(&other).1.latency.is_none(), "{other}");
    }
}

#[test]
fn the_priority_that_a_header_states_wins_over_the_form_of_the_rows() {
    let priorities = |wake: &str, switch: &str, rt: u32| {
        let text = OF_2006
            .replace("rt_prio:80", &format!("rt_prio:{rt}"))
            .replace("(13 0)", wake)
            .replace("(76 13)", switch);
        let (events, _, _) = latency(&text);
        let of = |event: &Event| match event.kind {
            Wakeup { wake, .. } => Some((wake.prio, Priority::UNKNOWN)),
            EventKind::Switch(switch) => Some((switch.next_prio, switch.prev_prio)),
            _ => None,
        };
        events.iter().filter_map(of).collect::<Vec<_>>()
    };
    let (own, unknown) = (Priority(19), Priority::UNKNOWN);
    assert_eq!(priorities("(13 0)", "(76 13)", 80), [(own, unknown), (own, Priority(0x76))]);
    // In decimal, and counted from the other end.
    assert_eq!(priorities("(19 0)", "(20 180)", 80), [(own, unknown), (own, unknown)]);
    // In neither form: it may have been boosted.
    assert_eq!(priorities("(5 0)", "(76 5)", 80), [(unknown, unknown), (unknown, unknown)]);
    // A header without a real-time priority states none.
    assert_eq!(priorities("(5 0)", "(76 5)", 0), [(Priority(5), unknown), (Priority(5), Priority(0x76))]);
}

#[test]
fn the_end_of_a_section_with_calls_shows_its_length() {
    let text = "   3750 us |   1)     sh-65      |  d..1 |   0.120 us    |  _raw_spin_unlock_irqrestore();\n\
                \x20  3764 us |   1)     sh-65      |  d..1 |   0.000 us    |  tracer_hardirqs_on();\n\
                \x20     sh-65        1d..1 3792us : <stack trace>\n=> uart_write\n";
    let latency = |text: &str| all(text).1.latency.map(|trace| (trace.tracer, trace.latency, trace.cpu));
    assert_eq!(latency(text), Some((LatencyTracer::Irqsoff, Ns::from_us(3764), Cpu(1))));
    // Times of a clock are of no section.
    assert_eq!(latency(&text.replace("3764 us |", "3.000764 |")), None);
    assert_eq!(latency(&text.replace("tracer_hardirqs_on", "other")), None);
}
