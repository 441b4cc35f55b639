//! Which thread or interrupt a critical section is of.

use super::{latency_trace, named, section_of};
use crate::tracers::{event, function};
use whylate_events::{EventKind, LatencyTracer};
use whylate_ledger::CpuContext;

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
