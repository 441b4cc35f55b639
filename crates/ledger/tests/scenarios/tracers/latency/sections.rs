//! Critical sections: the time of each function in them, and the time that no function has.

use super::{latency_trace, named, section_of};
use crate::tracers::{event, explained, frame, function, on};
use proptest::prelude::*;
use whylate_base::{Confidence, Cpu, Ns, Severity};
use whylate_events::{Event, EventKind, Fact, LatencyTracer, Marker};
use whylate_ledger::{CpuContext, FunctionTimes};

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
    // It took most of the time.
    assert!(section.fix.iter().any(|fix| fix.contains("of ata_sff_dma_pause")), "{:?}", section.fix);
    let finding = explained.finding("irqs-disabled").expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
}

/// The first line is where the section begins, and no function was called before the lines behind its end.
#[test]
fn a_section_in_one_function_is_known_where_calls_follow_it() {
    let call = |name: &str, caller: &str| EventKind::Function { name: name.into(), caller: caller.into() };
    let of = |behind: &str| {
        let info = latency_trace(LatencyTracer::Preemptirqsoff, 805_000, "pump", 31, 0);
        let events = vec![
            event(0, 31, ".", call("find_slot", "add_page")),
            event(806_000, 31, ".", call("sub_preempt_count", "find_slot")),
            event(806_000, 31, ".", call("save_trace", "stop_timing")),
            event(806_000, 31, ".", call("copy_trace", behind)),
        ];
        section_of(named(info, "find_slot", "find_slot"), events)
    };
    let (explained, section) = of("save_trace");
    assert_eq!((section.times, section.unexplained), (FunctionTimes::UntilNext, Ns::ZERO));
    assert_eq!((section.parts[0].function.as_str(), section.parts[0].time), ("find_slot", Ns(805_000)));
    assert!(section.fix[0].contains("maintainers of find_slot"), "{:?}", section.fix);
    assert!(explained.0.missing.is_empty());
    assert_eq!(of("other").1.times, FunctionTimes::None);
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
}
