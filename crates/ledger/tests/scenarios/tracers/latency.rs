//! Latency tracers' files: one critical section, or one wake-up.

use super::{CPU, check_tiling, event, explained, frame, function, on};
use crate::support::Explained;
use proptest::prelude::*;
use whylate_base::{Confidence, Cpu, Ns, Policy, Priority, Severity, Tid};
use whylate_events::{
    Event, EventKind, Fact, LatencyTask, LatencyTrace, LatencyTracer, MarkedLine, Marker, Switch, TaskState,
    TraceInfo, Wake,
};
use whylate_ledger::{Cause, CpuContext, CriticalSection, Culprit, FunctionTimes};

fn check_section(section: &CriticalSection) {
    let parts: Ns = section.parts.iter().map(|part| part.time).sum();
    assert_eq!(parts + section.rest + section.unexplained, section.latency, "{section:#?}");
    assert!(section.unexplained >= Ns::ZERO && section.rest >= Ns::ZERO, "{section:#?}");
    assert!(section.parts.is_sorted_by(|a, b| a.time >= b.time), "{section:#?}");
}

pub(super) fn latency_trace(
    tracer: LatencyTracer,
    latency: i64,
    comm: &str,
    tid: i32,
    rt_priority: u32,
) -> TraceInfo {
    let policy = if rt_priority > 0 { Policy::Fifo } else { Policy::Other };
    let task = LatencyTask { tid: Tid(tid), comm: comm.into(), policy: Some(policy), rt_priority };
    TraceInfo {
        latency: Some(LatencyTrace {
            tracer,
            latency: Ns(latency),
            cpu: CPU,
            task: Some(task),
            started_at: None,
            ended_at: None,
            entries: None,
            marked: None,
        }),
        ..TraceInfo::default()
    }
}

pub(super) fn named(mut info: TraceInfo, from: &str, to: &str) -> TraceInfo {
    let trace = info.latency.as_mut().expect("of a tracer");
    trace.started_at = Some(from.into());
    trace.ended_at = Some(to.into());
    info
}

pub(super) fn section_of(info: TraceInfo, events: Vec<Event>) -> (Explained, CriticalSection) {
    let explained = explained(info, events);
    assert!(explained.0.activations.is_empty() && explained.0.tasks.is_empty(), "no activation is in it");
    let [section] = explained.0.sections.as_slice() else { panic!("{:#?}", explained.0.sections) };
    check_section(section);
    let section = section.clone();
    (explained, section)
}

#[test]
fn an_irqsoff_trace_is_a_critical_section() {
    let info = named(
        latency_trace(LatencyTracer::Irqsoff, 71_000, "bash", 2042, 0),
        "ata_scsi_queuecmd",
        "ata_scsi_queuecmd",
    );
    let events = vec![
        event(0, 2042, "d", function("_raw_spin_lock_irqsave")),
        event(2_000, 2042, "d", function("ata_qc_new")),
        event(4_000, 2042, "d", function("ata_sff_dma_pause")),
        event(52_000, 2042, "d", function("ata_sff_dma_pause")),
        event(60_000, 2042, "dh", function("handle_irq")),
        event(65_000, 2042, "d", function("ata_id_n_sectors")),
        event(71_000, 2042, "d", function("_raw_spin_unlock_irqrestore")),
        event(72_000, 2042, "d", function("trace_hardirqs_on")),
        frame(120_000, 2042, "_raw_spin_unlock_irqrestore"),
        frame(120_000, 2042, "ata_scsi_queuecmd"),
        frame(120_000, 2042, "scsi_dispatch_cmd"),
    ];
    let (explained, section) = section_of(info, events);
    assert_eq!(
        (section.latency, section.unexplained, section.times),
        (Ns(71_000), Ns::ZERO, FunctionTimes::UntilNext)
    );
    let first = &section.parts[0];
    assert_eq!((first.function.as_str(), first.time, first.calls), ("ata_sff_dma_pause", Ns(56_000), 2));
    let irq = section.parts.iter().find(|part| part.within == CpuContext::Irq).expect("an interrupt's part");
    assert_eq!((irq.function.as_str(), irq.time), ("handle_irq", Ns(5_000)));
    assert_eq!((section.gaps[0].length, section.gaps[0].after.as_str()), (Ns(48_000), "ata_sff_dma_pause"));
    assert_eq!(section.stack.len(), 3);
    assert_eq!(section.context, CpuContext::Thread);
    assert!(section.why.contains("by bash:2042;"), "no priority is recorded: {}", section.why);
    assert!(section.fix.iter().any(|fix| fix.contains("ata_scsi_queuecmd")), "{:?}", section.fix);
    let finding = explained.finding("irqs-disabled").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
}

#[test]
fn of_a_section_without_functions_within_only_its_ends_are_known() {
    let info = named(latency_trace(LatencyTracer::Preemptoff, 46_000, "sshd", 1991, 0), "do_IRQ", "do_IRQ");
    let events = vec![
        event(0, 1991, "dh", function("irq_enter")),
        event(46_000, 1991, "d", function("irq_exit")),
        event(47_000, 1991, "d", function("trace_preempt_on")),
    ];
    let (explained, section) = section_of(info, events);
    assert_eq!((section.unexplained, section.times), (Ns(46_000), FunctionTimes::None));
    assert!(section.parts.is_empty());
    assert_eq!(section.confidence, Confidence::Low);
    assert_eq!(section.context, CpuContext::Irq, "sshd is a bystander");
    assert!(section.why.contains("in an interrupt that hit sshd:1991"), "{}", section.why);
    assert!(section.fix[0].contains("function-trace"), "{:?}", section.fix);
    assert_eq!(
        explained.finding("preemption-disabled").map(|finding| finding.severity),
        Some(Severity::Info)
    );
    assert_eq!(explained.0.missing.len(), 1);
}

#[test]
fn the_function_graph_gives_each_function_its_own_time() {
    let info = named(
        latency_trace(LatencyTracer::Irqsoff, 100_000, "bash", 1507, 0),
        "free_debug_processing",
        "return_to_handler",
    );
    let enter =
        |ns, name: &str, depth| event(ns, 1507, "d", EventKind::FunctionEntry { name: name.into(), depth });
    let exit = |ns, name: &str, depth, duration| {
        event(ns, 1507, "d", EventKind::FunctionExit { name: name.into(), depth, duration: Ns(duration) })
    };
    let events = vec![
        enter(0, "_raw_spin_lock_irqsave", 0),
        exit(0, "_raw_spin_lock_irqsave", 0, 0),
        enter(1_000, "set_track", 1),
        enter(2_000, "save_stack_trace", 2),
        // A leaf, whose return has the instant of its entry's line.
        enter(3_000, "unwind", 3),
        exit(3_000, "unwind", 3, 80_000),
        exit(85_000, "", 2, 83_000),
        exit(90_000, "", 1, 89_000),
        enter(99_000, "do_raw_spin_unlock", 0),
        exit(99_500, "do_raw_spin_unlock", 0, 500),
        enter(120_000, "tracer_hardirqs_on", 0),
    ];
    let (_, section) = section_of(info, events);
    assert_eq!(section.times, FunctionTimes::Own);
    let time = |name: &str| section.parts.iter().find(|part| part.function == name).map(|part| part.time);
    assert_eq!(time("unwind"), Some(Ns(80_000)));
    assert_eq!(time("save_stack_trace"), Some(Ns(1_000 + 2_000)));
    assert_eq!(time("set_track"), Some(Ns(1_000 + 5_000)));
    assert_eq!(time("do_raw_spin_unlock"), Some(Ns(500)));
    // Between the calls, and behind the last of them.
    assert_eq!(section.unexplained, Ns(1_000 + 9_000 + 500));
}

#[test]
fn advice_knows_a_kernel_that_is_realtime_already() {
    let with = |fact: Option<Fact>| {
        let marker = |fact: Fact| EventKind::Marker(Marker::from(fact.to_string().as_str()));
        let mut events: Vec<Event> =
            fact.map(|fact| on(Cpu(0), 0, 0, "", marker(fact))).into_iter().collect();
        events.push(event(0, 7, "d", function("a")));
        section_of(latency_trace(LatencyTracer::Irqsoff, 60_000, "x", 7, 0), events).1.fix.join("; ")
    };
    assert!(with(Some(Fact::PreemptRt(true))).contains("this is a PREEMPT_RT kernel"));
    assert!(with(Some(Fact::PreemptRt(false))).contains("use a PREEMPT_RT kernel:"));
    assert!(with(None).contains("unless this is one"));
}

/// The section of a thread with interrupts off, of which the tracer printed more lines than there are.
fn section_of_excerpt(
    (length, comm, tid): (i64, &str, i32),
    printed: u64,
    lines: &[(i64, &str)],
) -> CriticalSection {
    let mut info = latency_trace(LatencyTracer::Irqsoff, length, comm, tid, 0);
    info.latency.as_mut().expect("of a tracer").entries = Some(printed);
    let events = lines.iter().map(|&(ns, name)| event(ns, tid, "d", function(name))).collect();
    section_of(info, events).1
}

#[test]
fn of_an_excerpt_the_functions_times_are_not_known() {
    let lines = [
        (0, "_raw_spin_lock_irqsave"),
        (4_000, "ata_build_rw_tf"),
        (67_000, "delay_tsc"),
        (71_000, "irqrestore"),
    ];
    let section = section_of_excerpt((71_000, "bash", 2042), 168, &lines);
    assert_eq!(
        (section.times, section.unexplained, section.confidence),
        (FunctionTimes::None, Ns(71_000), Confidence::Low)
    );
    assert!(section.gaps.is_empty() && section.why.contains("4 of the 168 lines"), "{section:#?}");
    assert!(!section.why.contains("no line for"), "{section:#?}");
    assert!(section.why.contains("; among those lines are ") && !section.why.contains("(1)"), "{section:#?}");

    let (mut info, events) = multipathd();
    info.latency.as_mut().expect("of a tracer").entries = Some(4_000);
    let explained = explained(info, events);
    let evidence = &explained.only().verdict.evidence;
    assert!(evidence.iter().any(|seen| seen.what.contains("of the 4000 lines")), "{evidence:#?}");
    assert!(!evidence.iter().any(|seen| seen.what.contains("need-resched")), "{evidence:#?}");
    assert!(!evidence.iter().any(|seen| seen.what.contains("by the mark")), "{evidence:#?}");
}

/// Lines name callers: what both lines around the longest time without one are within is where the time went.
#[test]
fn of_an_excerpt_the_function_around_the_longest_time_without_a_line_is_named() {
    let called = |name: &str, caller: &str| EventKind::Function { name: name.into(), caller: caller.into() };
    let of = |before: (&str, &str), after: (&str, &str)| {
        let mut info = latency_trace(LatencyTracer::Irqsoff, 71_000, "bash", 2042, 0);
        info.latency.as_mut().expect("of a tracer").entries = Some(168);
        let kinds = [
            (0, called("_raw_spin_lock_irqsave", "opener")),
            (4_000, called(before.0, before.1)),
            (67_000, called(after.0, after.1)),
            (71_000, called("_raw_spin_unlock_irqrestore", "opener")),
        ];
        section_of(info, kinds.into_iter().map(|(ns, kind)| event(ns, 2042, "d", kind)).collect()).1
    };
    for (before, after, named) in [
        (("free", "walk"), ("test", "walk"), Some("walk")),
        (("walk", "opener"), ("test", "walk"), Some("walk")),
        (("free", "walk"), ("test", "other"), None),
        (("free", "_raw_spin_lock"), ("test", "_raw_spin_lock"), None),
    ] {
        let section = of(before, after);
        let said = named.map(|name| format!("the longest time without one, 63.00 us, are within {name}"));
        let is_said = said.as_ref().is_some_and(|said| section.why.contains(said));
        assert_eq!(is_said, named.is_some(), "{section:#?}");
        let asked = section.fix.iter().any(|fix| fix.contains("report it to the maintainers of walk:"));
        assert_eq!(asked, named.is_some(), "{section:#?}");
        assert_eq!(section.confidence, Confidence::Low);
    }
}

#[test]
fn need_resched_within_a_section_shows_that_another_thread_was_due() {
    let doubt = "does not show whether one did";
    for (flags, said) in [
        (["d", "d"], doubt),
        (["d", "dN"], "one was to run: need-resched is set 70.00 us after its beginning"),
        (["dN", "dN"], "one was to run: need-resched is set in the first line"),
    ] {
        let info = latency_trace(LatencyTracer::Irqsoff, 71_000, "bash", 2042, 0);
        let lines = [(0, flags[0], "lock"), (70_000, flags[1], "unlock")];
        let events = lines.into_iter().map(|(ns, flags, name)| event(ns, 2042, flags, function(name)));
        let why = explained(info, events.collect()).0.findings.remove(0).why;
        assert!(why.contains(said), "{why}");
        assert_eq!(why.contains(doubt), said == doubt, "{why}");
    }
}

#[test]
fn of_an_excerpt_that_lacks_most_lines_no_verdict_is_sure() {
    for (printed, most) in [(20, Confidence::High), (4_000, Confidence::Medium)] {
        let (mut info, events) = multipathd();
        info.latency.as_mut().expect("of a tracer").entries = Some(printed);
        let confidence = explained(info, events).only().verdict.confidence;
        assert_eq!(confidence, most, "{printed}");
    }
}

/// Where one line of six is missing, the longest time without one is reported; it is no cause.
#[test]
fn of_an_excerpt_that_is_nearly_whole_the_longest_time_without_a_line_is_reported() {
    let lines = [
        (4_285_000, "trace_hardirqs_off_thunk"),
        (34_373_000, "smp_reschedule_interrupt"),
        (34_375_000, "native_apic_mem_write"),
        (34_380_000, "trace_hardirqs_on_thunk"),
        (34_384_000, "trace_hardirqs_on_caller"),
    ];
    let section = section_of_excerpt((34_380_000, "<idle>", 0), 6, &lines);
    assert!(
        section.why.contains(
            "no line for 30.09 ms of it, between trace_hardirqs_off_thunk and smp_reschedule_interrupt"
        ),
        "{section:#?}"
    );
    assert_eq!((section.times, section.confidence), (FunctionTimes::None, Confidence::Low));
}

/// The tracer's mark shows that no line was left out where it stood still.
#[test]
fn of_an_excerpt_the_mark_shows_the_function_that_took_long() {
    let (mut info, mut events) = multipathd();
    let trace = info.latency.as_mut().expect("of a tracer");
    trace.entries = Some(4_000);
    trace.marked = Some(MarkedLine { at: Ns(58_000), least: Ns::from_us(100) });
    events.retain(|event| event.ts <= Ns(58_000) || event.ts >= Ns(380_000));
    let explained = explained(info, events);
    let evidence = &explained.only().verdict.evidence;
    let what = "no line for over 100.0 us, after uevent_listen, with preemption disabled 1 deep before it; the next line of the \
                file is 322.0 us later";
    assert!(evidence.iter().any(|seen| seen.what.contains(what)), "{evidence:#?}");
}

/// A kworker that waits for the PHY of a network card, of which `head` left the first lines.
#[test]
fn of_a_section_s_excerpt_the_mark_shows_it_as_well() {
    let scene = |marked: Option<MarkedLine>| {
        let mut info = latency_trace(LatencyTracer::Irqsoff, 769_000, "kworker/2:0", 5528, 0);
        let trace = info.latency.as_mut().expect("of a tracer");
        (trace.entries, trace.marked) = (Some(15), marked);
        let lines = [(0, "_raw_spin_lock_irqsave"), (609_000, "e1000_read_phy_reg"), (620_000, "delay_tsc")];
        let events = lines.map(|(ns, name)| event(ns, 5528, "d", function(name))).to_vec();
        let explained = explained(info, events);
        let seen = &explained.0.findings[0].evidence;
        seen.iter().map(|seen| seen.what.clone()).collect::<Vec<_>>().join("\n")
    };
    let seen = scene(Some(MarkedLine { at: Ns::ZERO, least: Ns::from_us(100) }));
    assert!(seen.contains("no line for over 100.0 us, after _raw_spin_lock_irqsave"), "{seen}");
    assert!(seen.contains("the next line of the file is 609.0 us later"), "{seen}");
    assert_eq!(scene(None), "");
}

#[test]
fn a_call_that_never_returned_is_not_charged_with_what_is_missing() {
    let info = latency_trace(LatencyTracer::Irqsoff, 3_751_000, "bash", 1507, 0);
    let enter =
        |ns, name: &str, depth| event(ns, 1507, "d", EventKind::FunctionEntry { name: name.into(), depth });
    let exit = |ns, name: &str, depth| {
        event(ns, 1507, "d", EventKind::FunctionExit { name: name.into(), depth, duration: Ns::ZERO })
    };
    let events = vec![
        enter(0, "set_track", 0),
        enter(2_000, "unwind_start", 1),
        enter(3_750_000, "do_raw_spin_unlock", 0),
        exit(3_751_000, "do_raw_spin_unlock", 0),
    ];
    let (_, section) = section_of(info, events);
    assert!(section.parts.iter().all(|part| part.function != "unwind_start"), "{section:#?}");
    assert_eq!((section.unexplained, section.confidence), (Ns(3_748_000), Confidence::Low));
}

/// The trace of a Raspberry Pi: multipathd in front of cyclictest.
fn multipathd() -> (TraceInfo, Vec<Event>) {
    let info = latency_trace(LatencyTracer::WakeupRt, 390_000, "cyclictest", 12_905, 80);
    let wake = Wake { comm: "cyclictest".into(), tid: Tid(12_905), prio: Priority(19), target_cpu: CPU };
    let switch = EventKind::Switch(Switch {
        prev_comm: "multipathd".into(),
        prev_tid: Tid(1456),
        prev_prio: Priority(0),
        prev_state: TaskState::Interruptible,
        next_comm: "cyclictest".into(),
        next_tid: Tid(12_905),
        next_prio: Priority(19),
    });
    let mut events = vec![event(0, 12_898, "dNh", EventKind::Wakeup { wake, new: false })];
    events.extend((1..=4).map(|i| event(i * 12_000, 12_898, "dN", function("update_curr"))));
    events.push(event(55_000, 12_898, "dN", function("__switch_to")));
    events.extend((58..382).map(|us| event(us * 1_000, 1456, "", function("uevent_listen"))));
    events.push(event(389_000, 1456, "d", function("__schedule")));
    events.push(event(389_000, 1456, "d", switch));
    // The tracer saves its stack before it stops.
    events.push(frame(402_000, 1456, "probe_wakeup_sched_switch"));
    (info, events)
}

#[test]
fn a_wakeup_trace_is_one_activation() {
    let (info, events) = multipathd();
    let explained = explained(info, events);
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!((activation.tid, activation.latency()), (Tid(12_905), Some(Ns(389_000))));
    assert_eq!((activation.done, activation.end), (None, Ns(389_000)));
    assert_eq!(activation.verdict.cause, Cause::HigherPriorityTask);
    assert!(matches!(activation.verdict.by, Some(Culprit::Task { tid: Tid(1456), .. })));
    assert!(!activation.verdict.why.contains("end of the trace"), "{}", activation.verdict.why);
    let seen = |word: &str| activation.verdict.evidence.iter().any(|seen| seen.what.contains(word));
    assert!(seen("need-resched was set"), "{:#?}", activation.verdict.evidence);
    assert!(seen("still ran for 43.00 us, between update_curr and __switch_to"), "{activation:#?}");
    assert!(!explained.codes().contains(&"unseen-switches"), "{:?}", explained.codes());
}

#[test]
fn a_wakeup_trace_without_its_first_lines_keeps_its_length() {
    let (info, events) = multipathd();
    let explained = explained(info, events[100..].to_vec());
    let activation = explained.only();
    check_tiling(activation);
    assert_eq!(activation.latency(), Some(Ns(390_000)));
    let unexplained: Ns =
        activation.ledger.iter().filter(|s| s.cause == Cause::Unexplained).map(|s| s.length()).sum();
    let first = events[100].ts;
    assert_eq!(unexplained, first + Ns(1_000), "the header's 390 us end at 389 us");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lines_of_a_section_add_up(
        latency in 0..300_000_i64,
        lines in proptest::collection::vec((0..300_i64, 0..5_usize, 0..4_u32, 0..3_usize, 0..90_000_i64), 0..40),
    ) {
        let names = ["a", "b", "_raw_spin_lock_irqsave", "do_IRQ", ""];
        let flags = ["d", "dh", "ds"];
        let mut events: Vec<Event> = lines
            .iter()
            .map(|&(us, name, depth, flag, duration)| {
                let name = names[name].into();
                let kind = match duration % 3 {
                    0 => EventKind::Function { name, caller: names[(depth as usize + 1) % 5].into() },
                    1 => EventKind::FunctionEntry { name, depth },
                    _ => EventKind::FunctionExit { name, depth, duration: Ns(duration) },
                };
                event(us * 1_000, 7, flags[flag], kind)
            })
            .collect();
        events.sort_by_key(|event| event.ts);
        section_of(latency_trace(LatencyTracer::Preemptirqsoff, latency, "x", 7, 0), events);
    }

    #[test]
    fn any_wakeup_trace_keeps_its_length(from in 0..330_usize, latency in 1_000..900_000_i64) {
        let (mut info, events) = multipathd();
        info.latency.as_mut().expect("of a tracer").latency = Ns(latency);
        let explained = explained(info, events[from.min(events.len())..].to_vec());
        explained.0.activations.iter().for_each(check_tiling);
    }
}

#[test]
fn a_section_no_longer_than_a_step_of_the_clock_is_not_measured() {
    let with = |step: i64, latency: i64| {
        let mut events: Vec<Event> = (0..8).map(|_| event(0, 7, "d", function("update_wall_time"))).collect();
        events.extend((0..8).map(|_| event(step, 7, "d", function("do_timer"))));
        section_of(latency_trace(LatencyTracer::Irqsoff, latency, "x", 7, 0), events)
    };
    let (explained, section) = with(10_000_000, 10_000_000);
    let finding = explained.finding("irqs-disabled").expect("a finding");
    assert_eq!(finding.severity, Severity::Info, "{finding:#?}");
    assert!(
        finding.title.contains("at most 10.00 ms") && finding.why.contains("steps of 10.00 ms"),
        "{finding:#?}"
    );
    assert_eq!(section.confidence, Confidence::Low);
    assert!(section.fix[0].contains("trace_clock"), "{:?}", section.fix);
    // Several steps are a length, and so is any by a fine clock.
    for (step, latency) in [(10_000_000, 40_000_000), (10_003_000, 10_003_000)] {
        let (explained, _) = with(step, latency);
        let severity = explained.finding("irqs-disabled").map(|finding| finding.severity);
        assert_eq!(severity, Some(Severity::Warning), "{step}");
    }
}

#[test]
fn time_before_the_first_line_is_no_functions() {
    let events = vec![
        event(4_000_000, 7, "d", function("do_work")),
        event(9_000_000, 7, "d", function("finish_work")),
        event(10_000_000, 7, "d", function("trace_hardirqs_on")),
    ];
    let (_, section) = section_of(latency_trace(LatencyTracer::Irqsoff, 10_000_000, "x", 7, 0), events);
    let time = |name: &str| section.parts.iter().find(|part| part.function == name).map(|part| part.time);
    assert_eq!(time("do_work"), Some(Ns(5_000_000)));
    assert_eq!(time("finish_work"), Some(Ns(1_000_000)));
    assert_eq!(section.unexplained, Ns(4_000_000), "{section:#?}");
}

#[test]
fn a_section_on_the_way_into_an_interrupt_is_its_handlers() {
    let call = |ns, flags, name: &str, caller: &str| {
        event(ns, 0, flags, EventKind::Function { name: name.into(), caller: caller.into() })
    };
    let info =
        named(latency_trace(LatencyTracer::Irqsoff, 400_000, "player", 0, 0), "entry_stub", "exit_stub");
    let events = vec![
        call(0, "d", "trace_hardirqs_off_thunk", "entry_stub"),
        call(1_000, "dh", "__handle_irq_event_percpu", "handle_irq_event_percpu"),
        call(2_000, "dh", "acme_gpu_irq", "__handle_irq_event_percpu"),
        call(390_000, "dh", "read_register", "acme_gpu_irq"),
        call(400_000, "d", "trace_hardirqs_on", "exit_stub"),
    ];
    let (_, section) = section_of(info, events);
    assert_eq!(section.context, CpuContext::Irq);
    // The id was made unknown, and is not the idle task's.
    assert!(section.why.contains("in an interrupt that hit player"), "{}", section.why);
    assert!(section.why.contains("the interrupt's handler is acme_gpu_irq"), "{}", section.why);
    assert!(section.fix.iter().any(|fix| fix.contains("maintainers of acme_gpu_irq")), "{:?}", section.fix);
}

#[test]
fn id_0_alone_is_not_the_idle_task() {
    let by = |comm: &str| {
        let info = latency_trace(LatencyTracer::Irqsoff, 46_000, comm, 0, 0);
        let events = vec![event(0, 0, "d", function("f")), event(46_000, 0, "d", function("g"))];
        section_of(info, events).1.why
    };
    assert!(by("swapper/0").contains("by the idle task"), "{}", by("swapper/0"));
    assert!(by("player").contains("by player:0"), "{}", by("player"));
}

#[test]
fn between_an_interrupts_entry_and_its_handler_no_code_takes_long() {
    let way = |before: &str| {
        let info = latency_trace(LatencyTracer::Irqsoff, 34_000, "swapper/1", 0, 0);
        let events = vec![
            event(0, 0, "d", function("trace_hardirqs_off_thunk")),
            event(30_000, 0, "d", function(before)),
            event(34_000, 0, "d", function("trace_hardirqs_on_thunk")),
        ];
        section_of(info, events).1
    };
    let stalled = way("smp_reschedule_interrupt");
    assert!(stalled.why.contains("the hypervisor, the firmware (SMI)"), "{}", stalled.why);
    assert!(stalled.fix.iter().all(|fix| fix.contains("hwlat")), "{:?}", stalled.fix);
    assert!(!way("acme_poll").why.contains("hypervisor"));
}
