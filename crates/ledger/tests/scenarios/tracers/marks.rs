//! The marks with which the tracers themselves begin and end a section.

use super::latency::{latency_trace, named, section_of};
use super::{event, explained};
use whylate_base::{Confidence, Ns};
use whylate_events::{Event, EventKind, LatencyTracer, TraceInfo};
use whylate_ledger::FunctionTimes;

fn called(ns: i64, name: &str, caller: &str) -> Event {
    event(ns, 64, "d", EventKind::Function { name: name.into(), caller: caller.into() })
}

fn of(latency: i64, from: &str, to: &str) -> TraceInfo {
    named(latency_trace(LatencyTracer::Irqsoff, latency, "ls", 64, 0), from, to)
}

#[test]
fn the_lines_at_the_ends_of_a_section_are_no_functions_within() {
    // Whether the tracer was called by the function or by its caller depends on the kernel.
    for (mark, latency) in [("trace_hardirqs_off", 999_000), ("_raw_spin_lock_irqsave", 993_000)] {
        let events = vec![
            called(1_000, mark, "_raw_spin_lock_irqsave"),
            called(993_000, "_raw_spin_unlock_irqrestore", "uart_write"),
            called(1_002_000, "tracer_hardirqs_on", "uart_write"),
        ];
        let (_, section) = section_of(of(latency, "_raw_spin_lock_irqsave", "uart_write"), events);
        assert_eq!((section.times, section.confidence), (FunctionTimes::None, Confidence::Low), "{mark}");
        assert!(section.parts.is_empty() && section.unexplained == Ns(latency), "{section:#?}");
        let gap = &section.gaps[0];
        assert_eq!(
            (gap.after.as_str(), gap.before.as_str()),
            ("_raw_spin_lock_irqsave", "_raw_spin_unlock_irqrestore"),
            "{mark}"
        );
        assert!(section.fix[0].contains("function-trace"), "{:?}", section.fix);
    }
}

#[test]
fn with_functions_traced_within_a_mark_stands_for_its_caller() {
    let events = vec![
        called(0, "trace_hardirqs_off", "ata_issue"),
        called(60_000, "ata_id_n_sectors", "ata_issue"),
        called(70_000, "_raw_spin_unlock_irqrestore", "ata_issue"),
        called(71_000, "trace_hardirqs_on", "ata_issue"),
    ];
    let (_, section) = section_of(of(70_000, "ata_issue", "ata_issue"), events);
    assert_eq!(section.times, FunctionTimes::UntilNext);
    let part = &section.parts[0];
    assert_eq!((part.function.as_str(), part.time), ("ata_issue", Ns(60_000)));
    assert!(section.parts.iter().all(|part| !part.function.contains("hardirqs")), "{section:#?}");
}

#[test]
fn a_mark_of_another_name_is_a_function() {
    let events = vec![
        called(0, "lock", "a"),
        called(50_000, "trace_buffer_lock_reserve", "a"),
        called(70_000, "unlock", "a"),
    ];
    let section = explained(of(70_000, "lock", "unlock"), events).0.sections.remove(0);
    assert_eq!(section.times, FunctionTimes::UntilNext);
}

#[test]
fn of_a_section_that_prints_the_console_is_the_cause() {
    let events = vec![
        called(0, "console_trylock_spinning", "vprintk_emit"),
        called(7_000_000, "trace_hardirqs_on", "vprintk_emit"),
    ];
    let (_, section) = section_of(of(7_000_000, "vprintk_emit", "vprintk_emit"), events);
    let fix = section.fix.join("\n");
    assert!(fix.contains("dmesg -n 1") && fix.contains("serial console"), "{fix}");
    assert!(!fix.contains("maintainers"), "{fix}");
}
