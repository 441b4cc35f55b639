//! Processes with the real-time priority of the thread that forked them: a fork passes that on unless SCHED_RESET_ON_FORK is set
//! (`sched_fork()`, `kernel/sched/core.c`).

use super::Timeline;
use super::thread::Thread;
use crate::model::Culprit;
use whylate_base::{Ns, Policy, Priority, Tid};

impl Timeline {
    /// The thread of the process of `late` that forked a process with its real-time priority, which is still that of the process: no call of
    /// its own changed it.
    pub(crate) fn inherited_from(&self, by: &Culprit, late: Tid) -> Option<Culprit> {
        let Culprit::Task { tid, priority, .. } = *by else { return None };
        let (thread, late) = (self.threads.get(tid)?, self.threads.get(late)?);
        let (parent, forked) = self.gave_priority(thread, priority)?;
        if !parent.shares_process_with(late) {
            return None;
        }
        Some(self.task(parent.tid, priority, forked))
    }

    /// True of a thread that is SCHED_FIFO at an instant, by itself or by the thread that forked it.
    pub(crate) fn is_fifo(&self, tid: Tid, at: Ns) -> bool {
        let Some(thread) = self.threads.get(tid) else { return false };
        let given = || self.gave_priority(thread, thread.own_priority_at(at));
        let of_parent = || given().and_then(|(parent, forked)| parent.policy_at(forked));
        thread.policy_at(at).or_else(of_parent) == Some(Policy::Fifo)
    }

    /// The thread that forked a process which has its `priority`, and when.
    fn gave_priority(&self, thread: &Thread, priority: Priority) -> Option<(&Thread, Ns)> {
        let forked = thread.lifetime.began.filter(|_| !thread.lifetime.is_of_parents_process)?;
        let parent = self.threads.get(thread.forked_by?)?;
        let is_same = priority.is_realtime() && parent.own_priority_at(forked) == priority;
        (is_same && thread.policy().is_none()).then_some((parent, forked))
    }
}
