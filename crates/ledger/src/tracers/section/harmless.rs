//! Sections that the tracers count and that delay no thread: the idle task, and a spin for a lock.
//!
//! An idle CPU sleeps with interrupts disabled, and the next interrupt ends the sleep all the same
//! (`cpuidle_idle_call`, kernel/sched/idle.c). Where the lines name the entry of an interrupt, the idle CPU was in its
//! handlers instead. A thread that spins for a mutex has preemption disabled, and stops when
//! another thread is to run (`need_resched` in `mutex_spin_on_owner`, `osq_lock` and `rwsem_spin_on_owner`,
//! kernel/locking).

use super::super::lines::{Line, Lines};
use super::entries::is_interrupt;
use crate::model::section::{CpuContext, CriticalSection};
use whylate_base::Ns;
use whylate_events::{ContextFlags, LatencyTracer};

/// Why a section delays no thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harmless {
    /// The CPU slept.
    Idle,
    /// A thread spun for a lock.
    Spin,
}

/// Functions in which an idle CPU sleeps, or that are on the way there and back (kernel/sched/idle.c, drivers/cpuidle,
/// arch/*/kernel/process.c).
const IDLE: [&str; 22] = [
    "acpi_idle_",
    "acpi_processor_ffh_cstate_enter",
    "acpi_safe_halt",
    "arch_cpu_idle",
    "arm_cpuidle",
    "cpu_do_idle",
    "cpu_idle",
    "cpu_startup_entry",
    "cpuidle_",
    "ct_cpuidle_",
    "ct_idle_",
    "default_idle",
    "do_idle",
    "intel_idle",
    "mwait_idle",
    "native_safe_halt",
    "poll_idle",
    "psci_cpu_suspend",
    "pv_native_safe_halt",
    "rcu_eqs_",
    "rcu_idle_",
    "tick_nohz_idle_",
];

/// The innermost functions of the stack at its end that are looked at.
const FRAMES: usize = 4;

/// Functions that spin for a sleeping lock, and stop when another thread is to run.
const SPINS: [&str; 8] = [
    "mutex_can_spin_on_owner",
    "mutex_optimistic_spin",
    "mutex_spin_on_owner",
    "osq_lock",
    "rt_mutex_adaptive_spinwait",
    "rtmutex_spin_on_owner",
    "rwsem_optimistic_spin",
    "rwsem_spin_on_owner",
];

/// True of a function of the idle task.
pub(super) fn is_idle(name: &str) -> bool {
    IDLE.iter().any(|begin| name.starts_with(begin))
}

/// Why it delays no thread, if most of its time shows that. `within` are its lines.
pub(super) fn harmless(lines: &Lines, section: &CriticalSection, within: &[Line]) -> Option<Harmless> {
    let asked = |line: &Line| line.flags.contains(ContextFlags::NEED_RESCHED) && !line.flags.in_interrupt();
    if section.context != CpuContext::Thread {
        return None;
    }
    let idle_task = !within.is_empty() && within.iter().all(|line| line.tid.is_idle());
    let named = |line: &Line| line.named().is_some_and(|name| is_interrupt(lines.name(name)));
    if idle_task && !within.iter().any(named) && passed_in(lines, section, within, &IDLE) {
        return Some(Harmless::Idle);
    }
    let preemption = section.tracer != LatencyTracer::Irqsoff
        && !within.iter().any(|line| line.flags.irqs_off() && asked(line));
    // One that goes on after it was asked to stop is late all the same.
    let goes_on = Lines::longest_run(within, asked).is_some_and(|run| run.len() > 1);
    (preemption && !goes_on && passed_in(lines, section, within, &SPINS)).then_some(Harmless::Spin)
}

/// True where most of the section passed in one of these functions: between lines that name them, or, where no line is
/// within it, between its ends.
fn passed_in(lines: &Lines, section: &CriticalSection, within: &[Line], list: &[&str]) -> bool {
    let is_of = |name: &str| list.iter().any(|begin| name.starts_with(begin));
    let latency = section.latency.0.max(1);
    let mut inside = Ns::ZERO;
    for pair in within.windows(2) {
        let [line, next] = pair else { continue };
        let names = [line.named(), next.named()].map(|name| name.map_or("", |name| lines.name(name)));
        // Of the first line the opener is known as well, and of the last the closer.
        let in_handler = line.flags.in_interrupt() || next.flags.in_interrupt();
        if names.iter().any(|name| is_of(name)) && !in_handler {
            inside += next.at - line.at;
        }
    }
    if inside.0.saturating_mul(2) > latency {
        return true;
    }
    let ends = [section.opened_by.as_deref(), section.closed_by.as_deref()];
    let few = within.iter().filter(|line| line.function().is_some()).count() <= 2;
    let stack = section.stack.iter().take(FRAMES).map(String::as_str);
    few && ends.into_iter().flatten().chain(stack).any(is_of)
}
