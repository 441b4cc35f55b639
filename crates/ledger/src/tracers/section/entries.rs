//! Functions in which interrupts and softirqs begin and end.

use whylate_events::interrupt_entry;

/// Functions in which an interrupt begins or ends, on the architectures that have had this tracer, beyond its entry itself.
const OF_INTERRUPTS: [&str; 12] = [
    "sysvec_",
    "smp_apic_",
    "smp_reschedule_interrupt",
    "irq_enter",
    "irq_exit",
    "handle_irq",
    "gic_handle_irq",
    "el1_",
    "el1h_",
    "interrupt_entry",
    "irqentry_",
    "call_on_irq_stack",
];
/// Functions in which softirqs begin and end (kernel/softirq.c).
const OF_SOFTIRQS: [&str; 3] = ["__do_softirq", "handle_softirqs", "do_softirq"];

/// Functions of the interrupt of a CPU's own timer, which no setting sends to another CPU, and of what it handles
/// (kernel/time/hrtimer.c, kernel/time/tick-sched.c; arch/x86/kernel/apic/apic.c, drivers/clocksource/arm_arch_timer.c).
const OF_OWN_TIMERS: [&str; 8] = [
    "apic_timer_interrupt",
    "smp_apic_timer_interrupt",
    "sysvec_apic_timer_interrupt",
    "arch_timer_handler_",
    "local_apic_timer_interrupt",
    "hrtimer_interrupt",
    "tick_sched_",
    "tick_nohz_handler",
];

/// Functions that only note that interrupts are off, on the way from an interrupt's entry to its handler.
const WAY_IN: [&str; 4] =
    ["trace_hardirqs_off_thunk", "trace_hardirqs_off_caller", "trace_hardirqs_off", "irqentry_enter"];

/// True where the kernel has nothing to do between two functions: from the entry of an interrupt, which is a few
/// instructions of assembly, to the first function of its handling.
pub(super) fn is_way_in(after: &str, before: &str) -> bool {
    WAY_IN.contains(&after) && is_interrupt(before)
}

/// True of a function in which an interrupt begins or ends.
pub(super) fn is_interrupt(name: &str) -> bool {
    interrupt_entry(&[name]).is_some() || OF_INTERRUPTS.iter().any(|of| name.starts_with(of))
}

/// True of a function in which softirqs begin or end.
pub(super) fn is_softirq(name: &str) -> bool {
    OF_SOFTIRQS.iter().any(|of| name.starts_with(of))
}

/// True of a function that a CPU's own timer interrupt runs.
pub(super) fn is_of_own_timer(name: &str) -> bool {
    let name = name.strip_prefix("__").unwrap_or(name);
    OF_OWN_TIMERS.iter().any(|of| name.starts_with(of))
}
