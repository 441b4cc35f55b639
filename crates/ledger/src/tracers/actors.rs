//! The threads and interrupts in what another tool measured: its own thread, those that it names, and which of them
//! have priority over the thread that waits.

use super::interrupted::Interrupted;
use crate::causes::Cause;
use crate::charge::attribution::Charge;
use crate::charge::precedence::{Contender, Relation};
use crate::model::Culprit;
use crate::model::irq_kind::{IrqKind, is_vector};
use crate::timeline::Timeline;
use whylate_base::{Comm, Confidence, Cpu, Ns, Priority, Tid};
use whylate_events::{Kind, Name, Noise};

/// x86's vector of the local timer (`LOCAL_TIMER_VECTOR`), under which osnoise reports it.
const LOCAL_TIMER: &str = "local_timer";
/// The deepest idle states take about this long to leave (drivers/idle/intel_idle.c).
pub(super) const LONGEST_IDLE_EXIT: Ns = Ns::from_ms(1);

/// A stand-in for the id of a CPU's measuring thread, where the file gives none: below all real ids.
pub(super) fn unnamed(cpu: Cpu) -> Tid {
    Tid(-2 - i32::try_from(cpu.0).unwrap_or(i32::MAX - 2))
}

/// timerlat's thread of a CPU as it was at an instant, made known to the timeline; it is real-time by itself, at
/// `priority` where the recording has no other.
pub(super) fn measured(
    timeline: &mut Timeline,
    at: Ns,
    cpu: Cpu,
    tid: Tid,
    priority: i32,
) -> (Tid, Comm, Priority) {
    let thread = timeline.threads.get_mut(tid);
    let comm = thread.comm_at(at);
    if comm.is_empty() || comm.as_str().starts_with('<') {
        thread.assume_name(match cpu {
            Cpu::UNKNOWN => Comm::from("timerlat"),
            cpu => Comm::from(format!("timerlat/{cpu}").as_str()),
        });
    }
    if !thread.ever_realtime {
        thread.assume_priority(Priority::realtime(priority));
    }
    (tid, thread.comm_at(at), thread.own_priority_at(at))
}

/// A thread as it was at an instant, with its priority where the recording has it.
pub(crate) fn task(timeline: &Timeline, at: Ns, tid: Tid, comm: &str) -> Culprit {
    let known = timeline.threads.get(tid);
    let comm =
        match known.map(|thread| thread.comm_at(at)).filter(|_| comm.is_empty() || comm.starts_with('<')) {
            Some(known) => known,
            None => Comm::from(comm),
        };
    // Nice 0 is also the default of a thread that the recording does not describe.
    let has_priorities =
        [Kind::Switch, Kind::Waking, Kind::Wakeup].iter().any(|&kind| timeline.seen.contains(kind));
    let priority = known
        .filter(|thread| {
            thread.policy_at(at).is_some()
                || thread.ever_realtime
                || (has_priorities && thread.priority_at(at) != Priority::DEFAULT)
        })
        .map_or(Priority::UNKNOWN, |thread| thread.own_priority_at(at));
    Culprit::Task { tid, comm, priority }
}

/// How to call a thread at an instant.
pub(crate) fn called(timeline: &Timeline, at: Ns, tid: Tid) -> String {
    if tid.is_idle() { "the idle CPU".to_owned() } else { task(timeline, at, tid, "").to_string() }
}

/// An interrupt of an osnoise event.
pub(super) fn irq(noise: &Noise) -> Culprit {
    irq_named(noise.name, Some(noise.id))
}

/// An interrupt by name and number; an architecture's vector has no line.
pub(crate) fn irq_named(name: Name, id: Option<u32>) -> Culprit {
    Culprit::Irq { irq: id.filter(|_| !is_vector(name.as_str())), name }
}

/// The CPU's own timer.
/// The name of an interrupt that is known to be the CPU's own timer: the recorded one, if it shows that.
pub(super) fn own_timer(noise: &Noise) -> Name {
    match irq(noise).irq_kind() {
        Some(IrqKind::OwnTimer) => noise.name,
        _ => Name::from(LOCAL_TIMER),
    }
}

pub(super) fn local_timer() -> Culprit {
    Culprit::Irq { irq: None, name: Name::from(LOCAL_TIMER) }
}

/// The charge for a thread that ran while a `waiter` of this priority was runnable; `blocking`: it ran already when the
/// wake-up came, and may only not have been preempted. A priority that the recording lacks lowers the confidence.
pub(super) fn in_front(culprit: Culprit, blocking: bool, waiter: Priority) -> Charge {
    let Some(runner) = Contender::of(&culprit) else {
        return Charge::unexplained();
    };
    let waiter = Contender { tid: Tid(i32::MIN), comm: Comm::default(), priority: waiter };
    let relation = Relation::of(&waiter, &runner);
    let cause = match relation {
        Relation::StopClass => Cause::StopTask,
        Relation::Deadline => Cause::DeadlineTask,
        Relation::HigherPriority => Cause::HigherPriorityTask,
        Relation::EqualPriority => Cause::EqualPriorityTask,
        Relation::Fair => Cause::FairQueue,
        Relation::LowerPriority | Relation::SameThread => Cause::PreemptionDisabled,
        Relation::Unknown if blocking => Cause::PreemptionDisabled,
        // The scheduler switched to it while the waiter was runnable, so it prefers it.
        Relation::Unknown => Cause::HigherPriorityTask,
    };
    let confidence = if relation == Relation::Unknown { Confidence::Medium } else { Confidence::High };
    Charge::to(cause, Some(culprit), confidence)
}

/// Where an interrupt found a thread, in words.
pub(super) fn hit(thread: &str, place: &Interrupted) -> String {
    match place {
        Interrupted::User => {
            format!("the timer interrupt hit {thread} in user code, which cannot disable interrupts")
        }
        Interrupted::Idle { function } => {
            format!("the timer interrupt hit the idle CPU in {function}")
        }
        Interrupted::Kernel { function, caller, enabling } => {
            let caller = caller.as_ref().map_or_else(String::new, |caller| format!(", called by {caller}"));
            let until = if *enabling { ", which enables interrupts: they were off until then" } else { "" };
            format!("the timer interrupt hit {thread} in {function}{caller}{until}")
        }
    }
}
