//! Who is who in what another tool measured: its own thread, the threads and interrupts it names, and with
//! which right they went before.

use super::interrupted::Interrupted;
use super::intervals::Charge;
use crate::causes::Cause;
use crate::model::Culprit;
use crate::timeline::Timeline;
use whylate_base::{Comm, Confidence, Cpu, Priority, Tid};
use whylate_events::{Kind, Name, Noise};

/// x86's vector of the local timer (`LOCAL_TIMER_VECTOR`), under which osnoise reports it.
const LOCAL_TIMER: &str = "local_timer";
/// Interrupts below this are lines of `/proc/interrupts`; the architecture's own vectors are above (x86), and
/// have a name.
const VECTORS: [&str; 9] = [
    LOCAL_TIMER,
    "reschedule",
    "call_function",
    "irq_work",
    "error_apic",
    "spurious_apic",
    "thermal_apic",
    "threshold_apic",
    "x86_platform_ipi",
];

/// A stand-in for the id of a CPU's measuring thread, where the file gives none: below all real ids.
pub(super) fn unnamed(cpu: Cpu) -> Tid {
    Tid(-2 - i32::try_from(cpu.0).unwrap_or(i32::MAX - 2))
}

/// timerlat's thread of a CPU, made known to the engine; it is real-time by itself, at `priority` if nobody
/// says otherwise.
pub(super) fn measured(timeline: &mut Timeline, cpu: Cpu, tid: Tid, priority: i32) -> (Tid, Comm, Priority) {
    let thread = timeline.threads.get_mut(tid);
    if thread.comm().is_empty() || thread.comm().as_str().starts_with('<') {
        thread.assume_name(Comm::from(format!("timerlat/{cpu}").as_str()));
    }
    if !thread.ever_realtime {
        thread.assume_priority(Priority::realtime(priority));
    }
    (tid, thread.comm(), thread.own_priority())
}

/// A thread, with the priority that the recording tells, if it tells any.
pub(crate) fn task(timeline: &Timeline, tid: Tid, comm: &str) -> Culprit {
    let known = timeline.threads.get(tid);
    let comm = match known.map(|thread| thread.comm()).filter(|_| comm.is_empty() || comm.starts_with('<')) {
        Some(known) => known,
        None => Comm::from(comm),
    };
    // Nice 0 is also what is taken of a thread of which nothing is known.
    let told = [Kind::Switch, Kind::Waking, Kind::Wakeup].iter().any(|&kind| timeline.seen.contains(kind));
    let priority = known
        .filter(|thread| {
            thread.policy().is_some()
                || thread.ever_realtime
                || (told && thread.priority() != Priority::DEFAULT)
        })
        .map_or(Priority::UNKNOWN, |thread| thread.own_priority());
    Culprit::Task { tid, comm, priority }
}

/// How to call a thread.
pub(super) fn called(timeline: &Timeline, tid: Tid) -> String {
    if tid.is_idle() { "the idle CPU".to_owned() } else { task(timeline, tid, "").to_string() }
}

/// An interrupt of an osnoise event.
pub(super) fn irq(noise: &Noise) -> Culprit {
    irq_named(noise.name, Some(noise.id))
}

/// An interrupt by name and number; an architecture's vector has no line.
pub(crate) fn irq_named(name: Name, id: Option<u32>) -> Culprit {
    let vector = VECTORS.iter().any(|vector| name.as_str().starts_with(vector));
    Culprit::Irq { irq: id.filter(|_| !vector), name }
}

/// The CPU's own timer.
pub(super) fn local_timer() -> Culprit {
    Culprit::Irq { irq: None, name: Name::from(LOCAL_TIMER) }
}

/// The charge for a thread that ran before a real-time `victim` that was runnable; `blocking`: it was running
/// when the wake-up came, so that it may merely not have given way. What the recording does not tell of its
/// priority lowers the confidence.
pub(super) fn in_front(culprit: Culprit, blocking: bool, victim: Priority) -> Charge {
    let Culprit::Task { comm, priority, .. } = culprit else {
        return Charge::unexplained();
    };
    let known = priority != Priority::UNKNOWN;
    let cause = match comm.as_str() {
        comm if comm.starts_with("migration/") || comm.starts_with("stopper/") => Cause::StopTask,
        _ if known && priority.0 < 0 => Cause::DeadlineTask,
        _ if known && priority.outranks(victim) => Cause::HigherPriorityTask,
        _ if known && priority == victim => Cause::EqualPriorityTask,
        _ if blocking => Cause::PreemptionDisabled,
        _ if known => Cause::PreemptionDisabled,
        // It was switched to while the victim was runnable: the scheduler prefers it.
        _ => Cause::HigherPriorityTask,
    };
    let confidence = if known || cause == Cause::StopTask { Confidence::High } else { Confidence::Medium };
    Charge::to(cause, Some(culprit), confidence)
}

/// Where an interrupt found a thread, in words.
pub(super) fn came_upon(who: &str, place: &Interrupted) -> String {
    match place {
        Interrupted::User => {
            format!("the timer's interrupt came upon {who} in user code, which cannot disable interrupts")
        }
        Interrupted::Idle { function } => {
            format!("the timer's interrupt came upon the idle CPU in {function}")
        }
        Interrupted::Kernel { function, caller, enabling } => {
            let caller = caller.as_ref().map_or_else(String::new, |caller| format!(", called by {caller}"));
            let until = if *enabling { ": it enables interrupts, which had been off until then" } else { "" };
            format!("the timer's interrupt came upon {who} in {function}{caller}{until}")
        }
    }
}
