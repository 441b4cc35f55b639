//! What helps against a section of the latency tracers.

use super::super::console;
use super::super::interrupted::{is_primitive, responsible};
use super::super::lines::Within;
use super::entries::{is_interrupt, is_softirq};
use super::harmless::{between_idle, is_idle_task};
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::causes::info::ON_OWN_TIMER;
use crate::model::Culprit;
use crate::model::section::{CpuContext, CriticalSection, FunctionTimes};
use whylate_events::is_idle_function;

/// What the lines show of a section.
pub(super) struct Shown<'a> {
    /// Where most of the time has no line.
    pub(super) stood_in: Option<Within<'a>>,
    /// The one handler of a device's interrupt.
    pub(super) handler: Option<&'a str>,
    pub(super) functions: bool,
    /// The function from which its first lines were called, where none of them names the stack's.
    pub(super) within: Option<&'a str>,
    /// It is the interrupt of the CPU's own timer.
    pub(super) is_own_timer: bool,
}

/// What helps against it.
pub(super) fn fix(preempt_rt: Option<bool>, section: &CriticalSection, shown: Shown<'_>) -> Vec<String> {
    let Shown { stood_in, handler, functions: shows_functions, within, is_own_timer } = shown;
    let mut fixes = Vec::new();
    let of_idle_exit = is_of_idle_exit(section);
    if of_idle_exit {
        fixes.extend(Cause::IdleExit.advice(&Advised::general()).into_iter().map(|fix| fix.text));
    }
    // Where an interrupt or a softirq begins, its handler is to ask about, and not the entry.
    let is_entry = |name: &str| is_interrupt(name) || is_softirq(name);
    let in_handler = section.context == CpuContext::Irq || section.opened_by.as_deref().is_some_and(is_entry);
    let not_primitive = |name: &&str| !is_primitive(name) && !is_entry(name) && !is_idle_function(name);
    let opener = section.opened_by.as_deref().filter(not_primitive);
    let named = || responsible(&section.stack).or(section.closed_by.as_deref()).filter(not_primitive);
    let stood_in = stood_in.map(|stood_in| stood_in.function).filter(not_primitive);
    // Of one that took most of the time, and not of the one that began it.
    let longest = section.parts.first().filter(|part| part.time.0.saturating_mul(2) >= section.latency.0);
    let longest = longest.map(|part| part.function.as_str()).filter(not_primitive);
    // The stack's first function may only have called the one that disabled interrupts or preemption.
    let inside = || within.filter(not_primitive).or_else(named).filter(|_| !in_handler);
    let asked = stood_in.or(handler).or(longest).or(opener).or_else(inside);
    // The drivers of consoles wait for their device: which function of theirs took the time does not matter.
    let printing = asked.map_or_else(|| console::is_printing(&section.stack), console::prints);
    if section.times == FunctionTimes::None && !shows_functions && !printing {
        fixes.push(format!(
            "trace the functions within, with the tracer {}: echo 1 > options/function-trace; it makes the section longer",
            section.tracer.name()
        ));
    }
    match asked {
        _ if printing => fixes.extend(console::advice(&section.stack)),
        Some(function) => fixes.push(format!(
            "report it to the maintainers of {function}: grep the kernel's source for it, then scripts/get_maintainer.pl -f \
             FILE; if a driver has it, use a newer driver, or none"
        )),
        None if is_own_timer => fixes.push(
            "see which timers expire in it: trace with the events timer:hrtimer_expire_entry and timer:hrtimer_expire_exit".to_owned(),
        ),
        None if in_handler => fixes.push(
            "find the handler: trace with the events irq:irq_handler_entry, irq:irq_handler_exit, irq:softirq_entry and \
             irq:softirq_exit, and read which one took the time"
                .to_owned(),
        ),
        None if of_idle_exit => {}
        None => fixes.push("echo stacktrace > trace_options, and trace again: the stack shows which code held the lock".to_owned()),
    }
    // The way out of an idle state and the CPU's own timer are so on every kernel.
    if !of_idle_exit && !is_own_timer {
        fixes.push(on_preempt_rt(preempt_rt));
    }
    if !of_idle_exit {
        fixes.push(elsewhere(section.context, is_own_timer).to_owned());
    }
    fixes
}

fn on_preempt_rt(preempt_rt: Option<bool>) -> String {
    let (raw, threaded) = (
        "only raw spinlocks and explicit disabling still do this: that code must change",
        "its spinlocks and interrupt handlers leave interrupts and preemption on; only raw spinlocks do not",
    );
    match preempt_rt {
        Some(true) => format!("this is a PREEMPT_RT kernel, where {raw}"),
        Some(false) => format!("use a PREEMPT_RT kernel: {threaded}"),
        None => format!("use a PREEMPT_RT kernel, unless this is one: {threaded}"),
    }
}

/// True of the idle task on its way out of an idle state: it entered that with interrupts disabled.
fn is_of_idle_exit(section: &CriticalSection) -> bool {
    let is_idle =
        matches!(&section.thread, Some(Culprit::Task { tid, comm, .. }) if is_idle_task(*tid, comm.as_str()));
    is_idle && section.context == CpuContext::Thread && between_idle(section)
}

/// What keeps it off the CPUs of real-time threads.
fn elsewhere(context: CpuContext, is_own_timer: bool) -> &'static str {
    match context {
        CpuContext::Irq if is_own_timer => ON_OWN_TIMER,
        CpuContext::Irq | CpuContext::Softirq => {
            "move the interrupt to a CPU without real-time threads: /proc/irq/N/smp_affinity_list"
        }
        CpuContext::Thread => {
            "keep the code that enters it off the CPUs of real-time threads: change the affinity of the thread and of its \
             device's interrupt"
        }
    }
}
