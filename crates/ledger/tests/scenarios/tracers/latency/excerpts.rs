//! Files of which lines are missing: what the lines that are left show.

use super::wakeup::multipathd;
use super::{latency_trace, section_of};
use crate::tracers::{event, explained, function};
use whylate_base::{Confidence, Ns};
use whylate_events::{EventKind, LatencyTracer, MarkedLine};
use whylate_ledger::{CriticalSection, FunctionTimes};

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

/// The stack at the end of a section is that of its caller, where its lines name none of it.
#[test]
fn the_function_that_disabled_interrupts_is_asked_about_and_not_its_caller() {
    let called = |name: &str, caller: &str| EventKind::Function { name: name.into(), caller: caller.into() };
    let asked = |caller: &str| {
        let mut info = latency_trace(LatencyTracer::Irqsoff, 126_000, "app", 352, 0);
        info.latency.as_mut().expect("of a tracer").entries = Some(8_207);
        let mut events = vec![
            event(
                0,
                352,
                "d",
                EventKind::Function { name: "_raw_spin_lock_irqsave".into(), caller: "".into() },
            ),
            event(1_000, 352, "d", called("preempt_count_add", "_raw_spin_lock_irqsave")),
            event(2_000, 352, "d", called("fill", caller)),
            event(3_000, 352, "d", called("mix", "fill")),
            event(126_000, 352, "d", called("_raw_spin_unlock_irqrestore", caller)),
        ];
        events
            .extend(["outer_connect", "connect"].iter().map(|name| super::super::frame(127_000, 352, name)));
        let section = section_of(info, events).1;
        section.fix.iter().find(|fix| fix.contains("maintainers")).cloned().unwrap_or_default()
    };
    assert!(asked("inner_connect").contains("maintainers of inner_connect:"), "{}", asked("inner_connect"));
    assert!(asked("outer_connect").contains("maintainers of outer_connect:"), "{}", asked("outer_connect"));
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
