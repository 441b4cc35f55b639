//! The states in which threads leave the CPU, of kernels that record them shifted by one.
//!
//! From 4.14.9 to 4.19, `sched_switch` has R as S, S as D, D as T and so on; an idle kernel thread (I) is recorded as
//! preempted (R+) (`__trace_sched_switch_state`, `include/trace/events/sched.h`: `1 << task_state_index(p)`, mended by
//! 3f5fe9fef5b2). The idle task is always R, so its own switches show it.
//!
//! From 4.14 to 4.14.8 the index itself is recorded (`__get_task_state(p)`): R, S and D are right, and an idle kernel thread, 8, is shown as
//! traced (t). No program can trace a thread of the kernel (`ptrace_attach()`, `PF_KTHREAD`, in `kernel/ptrace.c`).

use crate::timeline::housekeeping::is_of_kernel;
use whylate_base::Tid;
use whylate_events::{Switch, TaskState};

/// How the recording has the states.
#[derive(Debug, Default)]
pub(super) struct PrevStates {
    shifted: bool,
}

impl PrevStates {
    /// The state in which the thread before left the CPU.
    pub(super) fn read(&mut self, switch: &Switch) -> TaskState {
        if switch.prev_tid.is_idle() {
            self.shifted = switch.prev_state == TaskState::Interruptible;
            return TaskState::Runnable;
        }
        if !self.shifted {
            let is_idle = switch.prev_state == TaskState::Traced && is_of_kernel(switch.prev_comm.as_str());
            return if is_idle { TaskState::Idle } else { switch.prev_state };
        }
        match switch.prev_state {
            TaskState::Runnable | TaskState::Interruptible => TaskState::Runnable,
            TaskState::Uninterruptible => TaskState::Interruptible,
            TaskState::Stopped => TaskState::Uninterruptible,
            TaskState::Traced => TaskState::Stopped,
            TaskState::Other => TaskState::Other,
            TaskState::Dead => TaskState::Dead,
            TaskState::Idle => TaskState::Other,
            // A thread that is preempted does not leave its CPU idle.
            TaskState::Preempted if switch.next_tid.is_idle() => TaskState::Idle,
            TaskState::Preempted => TaskState::Preempted,
        }
    }

    /// True where the state, as it was read, may also be that of an idle kernel thread.
    pub(super) fn may_be_idle(&self, switch: &Switch) -> bool {
        self.shifted && switch.prev_state == TaskState::Preempted
    }
}

/// The state in which a thread leaves the CPU. A wait for a sleeping spinlock of PREEMPT_RT was shown as runnable before 5.17
/// (commit 25795ef6299f): the thread lends its priority to the lock's owner, and gives it the CPU.
pub(super) fn state_of(switch: &Switch, lent_priority_to: Option<Tid>) -> TaskState {
    match switch.prev_state {
        TaskState::Runnable | TaskState::Preempted if lent_priority_to == Some(switch.next_tid) => {
            TaskState::Uninterruptible
        }
        state => state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Priority, Tid};

    fn switch(prev: i32, prev_state: TaskState, next: i32) -> Switch {
        Switch {
            prev_comm: Comm::default(),
            prev_tid: Tid(prev),
            prev_prio: Priority::DEFAULT,
            prev_state,
            next_comm: Comm::default(),
            next_tid: Tid(next),
            next_prio: Priority::DEFAULT,
        }
    }

    #[test]
    fn a_thread_of_the_kernel_that_is_traced_is_idle() {
        let named = |comm: &str| Switch { prev_comm: comm.into(), ..switch(7, TaskState::Traced, 0) };
        assert_eq!(PrevStates::default().read(&named("kworker/0:3")), TaskState::Idle);
        assert_eq!(PrevStates::default().read(&named("worker")), TaskState::Traced);
    }

    #[test]
    fn the_idle_task_shows_that_states_are_shifted() {
        let mut states = PrevStates::default();
        assert_eq!(states.read(&switch(7, TaskState::Uninterruptible, 0)), TaskState::Uninterruptible);
        assert_eq!(states.read(&switch(0, TaskState::Runnable, 7)), TaskState::Runnable);
        assert_eq!(states.read(&switch(7, TaskState::Interruptible, 8)), TaskState::Interruptible);
        assert_eq!(states.read(&switch(0, TaskState::Interruptible, 7)), TaskState::Runnable);
        for (recorded, next, meant) in [
            (TaskState::Interruptible, 8, TaskState::Runnable),
            (TaskState::Uninterruptible, 8, TaskState::Interruptible),
            (TaskState::Stopped, 0, TaskState::Uninterruptible),
            (TaskState::Traced, 0, TaskState::Stopped),
            (TaskState::Dead, 0, TaskState::Dead),
            (TaskState::Preempted, 0, TaskState::Idle),
            (TaskState::Preempted, 8, TaskState::Preempted),
        ] {
            assert_eq!(states.read(&switch(7, recorded, next)), meant, "{recorded:?} to {next}");
        }
        assert!(states.may_be_idle(&switch(7, TaskState::Preempted, 8)));
    }
}
