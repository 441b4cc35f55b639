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
use whylate_base::{Ns, Tid};
use whylate_events::{ContextFlags, IDLE_FUNCTIONS, LatencyTracer, is_idle_function};

/// Why a section delays no thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harmless {
    /// The CPU slept.
    Idle,
    /// A thread spun for a lock.
    Spin,
}

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

/// Functions that take a sleeping lock, and spin for it first.
const TAKES: [&str; 5] =
    ["__mutex_lock", "__rt_mutex_slowlock", "__ww_mutex_lock", "rt_mutex_slowlock", "rwsem_down_"];

/// Why it delays no thread, if most of its time shows that. `within` are its lines, some of them where it is an excerpt.
pub(super) fn harmless(
    lines: &Lines,
    section: &CriticalSection,
    within: &[Line],
    is_excerpt: bool,
) -> Option<Harmless> {
    let asked = |line: &Line| line.flags.contains(ContextFlags::NEED_RESCHED) && !line.flags.in_interrupt();
    if section.context != CpuContext::Thread {
        return None;
    }
    let idle_task = !within.is_empty() && within.iter().all(|line| line.tid.is_idle());
    let named = |line: &Line| line.named().is_some_and(|name| is_interrupt(lines.name(name)));
    let sleeps = passed_in(lines, section, within, &IDLE_FUNCTIONS) || is_excerpt && between_idle(section);
    if idle_task && !within.iter().any(named) && sleeps && !is_awaited(section, within) {
        return Some(Harmless::Idle);
    }
    let preemption = section.tracer != LatencyTracer::Irqsoff
        && !within.iter().any(|line| line.flags.irqs_off() && asked(line));
    // One that goes on after it was asked to stop is late all the same.
    let goes_on = Lines::longest_run(within, asked).is_some_and(|run| run.len() > 1);
    let spins = passed_in(lines, section, within, &SPINS)
        || is_excerpt && between_takes(section) && spins_in(lines, within);
    // Of the lines that an excerpt lacks it is not known: one early on shows that a thread waited.
    let is_late = is_excerpt && is_awaited_since(section, within);
    (preemption && !goes_on && !is_late && spins).then_some(Harmless::Spin)
}

/// True of the idle task by both: those who publish a trace may write 0 for an id.
pub(super) fn is_idle_task(tid: Tid, comm: &str) -> bool {
    tid.is_idle() && (comm.is_empty() || comm == "<idle>" || comm.starts_with("swapper"))
}

/// True where a thread was to run on the CPU for most of the section: what the idle task does then, on its way out of the
/// idle state, that thread waits for.
fn is_awaited(section: &CriticalSection, within: &[Line]) -> bool {
    let asked = within.iter().rev().take_while(|line| is_asked(line)).last();
    asked.is_some_and(|first| is_early(section, first))
}

/// True where some line shows that a thread was to run for most of the section.
fn is_awaited_since(section: &CriticalSection, within: &[Line]) -> bool {
    within.iter().find(|line| is_asked(line)).is_some_and(|first| is_early(section, first))
}

/// True of a line at which a thread was to run.
fn is_asked(line: &Line) -> bool {
    line.flags.contains(ContextFlags::NEED_RESCHED)
}

/// True of a line behind which most of the section lies.
fn is_early(section: &CriticalSection, line: &Line) -> bool {
    let rest = section.start + section.latency - line.at;
    rest.0.saturating_mul(2) > section.latency.0
}

/// True of a section that begins and ends in functions by which an idle CPU sleeps.
pub(super) fn between_idle(section: &CriticalSection) -> bool {
    let idles = |name: &Option<String>| name.as_deref().is_some_and(is_idle_function);
    idles(&section.opened_by) && idles(&section.closed_by)
}

/// True of a section that begins and ends as a sleeping lock is taken: preemption is disabled there for the spin
/// (`mutex_optimistic_spin`, `rwsem_optimistic_spin`).
fn between_takes(section: &CriticalSection) -> bool {
    let takes = |name: &Option<String>| {
        name.as_ref().is_some_and(|name| TAKES.iter().any(|take| name.starts_with(take)))
    };
    takes(&section.opened_by) && takes(&section.closed_by)
}

/// True where the thread itself enters a function that spins.
fn spins_in(lines: &Lines, within: &[Line]) -> bool {
    let spins = |name: &str| SPINS.iter().any(|begin| name.starts_with(begin));
    within
        .iter()
        .filter(|line| !line.flags.in_interrupt())
        .any(|line| line.named().is_some_and(|name| spins(lines.name(name))))
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
