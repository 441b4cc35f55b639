//! Which of two threads runs first: the rules of the kernel's scheduling classes, in one place.
//!
//! ```text
//! stop class  >  SCHED_DEADLINE  >  SCHED_FIFO and SCHED_RR by priority  >  SCHED_OTHER, which take turns
//! ```
//!
//! Sources: `kernel/sched/core.c` (`__pick_next_task`), `kernel/sched/stop_task.c`, sched(7).

use crate::model::Culprit;
use crate::timeline::housekeeping::is_stopper;
use crate::timeline::thread::Thread;
use whylate_base::{Comm, Ns, Priority, SchedClass, Tid};

/// What decides how a thread is scheduled, at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) tid: Tid,
    /// The stop class has no priority of its own: only its threads' names show it.
    pub(crate) comm: Comm,
    /// With inheritance; [`Priority::UNKNOWN`] where the recording does not have it.
    pub(crate) priority: Priority,
}

/// Why a thread that runs is ahead of one that waits, or that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The runner is the waiter itself.
    SameThread,
    /// The runner is of the stop class, which is ahead of every other.
    StopClass,
    /// The runner is SCHED_DEADLINE.
    Deadline,
    /// The runner has a higher real-time priority, or is real-time where the waiter is not.
    HigherPriority,
    /// Both have the same real-time priority: the first to run keeps the CPU.
    EqualPriority,
    /// Both are SCHED_OTHER and take turns.
    Fair,
    /// The runner should give way to the waiter.
    LowerPriority,
    /// The recording does not have both priorities.
    Unknown,
}

impl Relation {
    /// Of a thread that waits for a CPU to the thread that has it.
    pub(crate) fn of(waiter: &Contender, runner: &Contender) -> Relation {
        if waiter.tid == runner.tid {
            return Relation::SameThread;
        }
        match (waiter.is_stopper(), runner.is_stopper()) {
            (_, true) => return Relation::StopClass,
            (true, false) => return Relation::LowerPriority,
            (false, false) => {}
        }
        if waiter.priority == Priority::UNKNOWN || runner.priority == Priority::UNKNOWN {
            return Relation::Unknown;
        }
        match (waiter.priority.class(), runner.priority.class()) {
            (_, SchedClass::Deadline) => Relation::Deadline,
            (SchedClass::Fair, SchedClass::Fair) => Relation::Fair,
            (SchedClass::Realtime, SchedClass::Realtime) if waiter.priority == runner.priority => {
                Relation::EqualPriority
            }
            _ if runner.priority.outranks(waiter.priority) => Relation::HigherPriority,
            _ => Relation::LowerPriority,
        }
    }

    /// True where the scheduler preempts the waiter for the runner.
    pub(crate) fn preempts(self) -> bool {
        matches!(self, Relation::StopClass | Relation::Deadline | Relation::HigherPriority)
    }
}

impl Contender {
    /// A thread as it was at an instant.
    pub(crate) fn at(thread: &Thread, instant: Ns) -> Contender {
        Contender { tid: thread.tid, comm: thread.comm_at(instant), priority: thread.priority_at(instant) }
    }

    /// The thread behind a culprit, where it is one.
    pub(crate) fn of(culprit: &Culprit) -> Option<Contender> {
        match *culprit {
            Culprit::Task { tid, comm, priority } => Some(Contender { tid, comm, priority }),
            Culprit::Irq { .. } | Culprit::Softirq { .. } => None,
        }
    }

    /// True of the stop class, which shows as real-time priority 99 (`migration/N`; `stopper/N` in old kernels).
    pub(crate) fn is_stopper(&self) -> bool {
        (self.priority == Priority(0) || self.priority == Priority::UNKNOWN) && is_stopper(self.comm.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Priority = Priority(-1);
    const NICE: Priority = Priority::DEFAULT;

    fn rt(user: i32) -> Priority {
        Priority::realtime(user)
    }

    #[test]
    fn relations_follow_the_scheduling_classes() {
        for (waiter, comm, runner, relation) in [
            (rt(50), "migration/1", rt(99), Relation::StopClass),
            (rt(99), "migration/1", rt(99), Relation::StopClass),
            (DEADLINE, "migration/1", rt(99), Relation::StopClass),
            (NICE, "stopper/1", Priority::UNKNOWN, Relation::StopClass),
            // A program may have such a name, too.
            (rt(50), "migration/1", rt(40), Relation::LowerPriority),
            (rt(50), "migrationd", rt(99), Relation::HigherPriority),
            (rt(99), "task", DEADLINE, Relation::Deadline),
            (DEADLINE, "task", DEADLINE, Relation::Deadline),
            (NICE, "task", DEADLINE, Relation::Deadline),
            (rt(50), "task", rt(51), Relation::HigherPriority),
            (NICE, "task", rt(1), Relation::HigherPriority),
            (rt(50), "task", rt(50), Relation::EqualPriority),
            (rt(50), "task", rt(49), Relation::LowerPriority),
            (rt(1), "task", NICE, Relation::LowerPriority),
            (DEADLINE, "task", rt(99), Relation::LowerPriority),
            (NICE, "task", NICE, Relation::Fair),
            (Priority(139), "task", Priority(100), Relation::Fair),
            (rt(50), "task", Priority::UNKNOWN, Relation::Unknown),
            (Priority::UNKNOWN, "task", rt(50), Relation::Unknown),
        ] {
            let waiter = Contender { tid: Tid(1), comm: Comm::from("waiter"), priority: waiter };
            let runner = Contender { tid: Tid(2), comm: Comm::from(comm), priority: runner };
            assert_eq!(Relation::of(&waiter, &runner), relation, "{waiter:?} {runner:?}");
            let itself = Contender { tid: waiter.tid, ..runner };
            assert_eq!(Relation::of(&waiter, &itself), Relation::SameThread);
        }
    }

    #[test]
    fn nothing_but_the_stop_class_is_ahead_of_the_stop_class() {
        let stopper = Contender { tid: Tid(1), comm: Comm::from("migration/0"), priority: rt(99) };
        let task = Contender { tid: Tid(2), comm: Comm::from("task"), priority: DEADLINE };
        assert_eq!(Relation::of(&stopper, &task), Relation::LowerPriority);
    }

    #[test]
    fn what_is_ahead_preempts_and_what_takes_turns_does_not() {
        for relation in [Relation::StopClass, Relation::Deadline, Relation::HigherPriority] {
            assert!(relation.preempts(), "{relation:?}");
        }
        for relation in [
            Relation::SameThread,
            Relation::EqualPriority,
            Relation::Fair,
            Relation::LowerPriority,
            Relation::Unknown,
        ] {
            assert!(!relation.preempts(), "{relation:?}");
        }
    }
}
