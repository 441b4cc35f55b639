//! In which order threads get a CPU.

use crate::model::TaskPolicy;
use whylate_base::{Ns, Priority};

/// The rank of a runnable thread: the lowest runs first. SCHED_OTHER threads have one rank, and take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The stop class.
    Stop,
    /// SCHED_DEADLINE, by its absolute deadline.
    Deadline(Ns),
    /// SCHED_FIFO and SCHED_RR, by the kernel's priority.
    Realtime(i32),
    /// SCHED_OTHER.
    Fair,
    /// No thread at all.
    Nothing,
}

impl Rank {
    /// Of a thread that is scheduled so; of SCHED_DEADLINE with its absolute deadline.
    pub(crate) fn of(scheduling: TaskPolicy, deadline: Ns) -> Rank {
        match scheduling {
            TaskPolicy::Stop => Rank::Stop,
            TaskPolicy::Deadline { .. } => Rank::Deadline(deadline),
            TaskPolicy::Fifo(_) | TaskPolicy::Rr(_) => Rank::Realtime(scheduling.priority().0),
            TaskPolicy::Other(_) | TaskPolicy::Idle => Rank::Fair,
        }
    }

    /// As `sched_switch` shows it; `own` for SCHED_OTHER.
    pub(crate) fn priority(self, own: Priority) -> Priority {
        match self {
            Rank::Stop => Priority(0),
            Rank::Deadline(_) => Priority(-1),
            Rank::Realtime(priority) => Priority(priority),
            Rank::Fair | Rank::Nothing => own,
        }
    }

    /// True for SCHED_FIFO and SCHED_RR, which throttling may stop.
    pub(crate) fn is_realtime(self) -> bool {
        matches!(self, Rank::Realtime(_))
    }

    /// True for what is pushed and pulled between CPUs at once.
    pub(crate) fn is_balanced(self) -> bool {
        matches!(self, Rank::Deadline(_) | Rank::Realtime(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_have_their_order() {
        let deadline =
            |at| Rank::of(TaskPolicy::Deadline { runtime: Ns(1), deadline: Ns(2), period: Ns(2) }, Ns(at));
        let order = [
            Rank::of(TaskPolicy::Stop, Ns::ZERO),
            deadline(5),
            deadline(9),
            Rank::of(TaskPolicy::Fifo(99), Ns::ZERO),
            Rank::of(TaskPolicy::Rr(1), Ns::ZERO),
            Rank::of(TaskPolicy::Other(-20), Ns::ZERO),
            Rank::Nothing,
        ];
        assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
        assert_eq!(Rank::of(TaskPolicy::Fifo(50), Ns::ZERO).priority(Priority::DEFAULT), Priority(49));
    }
}
