//! Threads that run at an inherited priority.

use crate::model::Culprit;
use crate::timeline::Timeline;
use whylate_events::Kind;

/// True of a thread that ran at a priority above its own: it held a lock that another waited for.
pub(crate) fn is_boosted(timeline: &Timeline, by: &Culprit) -> bool {
    match by {
        Culprit::Task { tid, priority, .. } => {
            timeline.seen.contains(Kind::PiSetprio)
                && timeline.threads.get(*tid).is_some_and(|thread| priority.outranks(thread.own_priority()))
        }
        Culprit::Irq { .. } | Culprit::Softirq { .. } => false,
    }
}
