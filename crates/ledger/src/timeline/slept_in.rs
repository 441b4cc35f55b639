//! What a thread's uninterruptible sleeps were in, where the recording shows it: by the kernel's event as they end
//! (`sched_blocked_reason`), or by the call stack behind the switch as they begin (`trace-cmd record -T`, `perf record -g`).

use super::sleeps::Wait;
use std::collections::VecDeque;
use whylate_base::{Ns, Tid};
use whylate_events::{BlockedReason, Symbol};

/// So many functions are looked at: those inside of a lock, an I/O scheduler or RCU are fewer.
const MOST_FRAMES: u32 = 12;

/// Functions that sleep, by how their names begin, and for what (`kernel/locking`, `kernel/sched/core.c`, `mm/filemap.c`,
/// `block`, `kernel/time/sleep_timeout.c`, `kernel/rcu`, `kernel/workqueue.c`).
const SLEEPERS: [(&str, Wait); 35] = [
    ("schedule_rtlock", LOCK),
    ("rtlock_", LOCK),
    ("rt_spin_lock", LOCK),
    ("rt_read_lock", LOCK),
    ("rt_write_lock", LOCK),
    ("rt_mutex_", LOCK),
    ("__rt_mutex_", LOCK),
    ("rwbase_", LOCK),
    ("mutex_lock", LOCK),
    ("__mutex_lock", LOCK),
    ("ww_mutex_lock", LOCK),
    ("__ww_mutex_lock", LOCK),
    ("rwsem_down_", LOCK),
    ("down_read", LOCK),
    ("down_write", LOCK),
    ("__down_read", LOCK),
    ("__down_write", LOCK),
    ("percpu_down_", LOCK),
    ("percpu_rwsem_wait", LOCK),
    ("__percpu_down_", LOCK),
    ("io_schedule", Wait::Io),
    ("bit_wait_io", Wait::Io),
    ("folio_wait_", Wait::Io),
    ("wait_on_page_bit", Wait::Io),
    ("submit_bio_wait", Wait::Io),
    ("__wait_on_buffer", Wait::Io),
    ("msleep", Wait::KernelTimer),
    ("usleep_range", Wait::KernelTimer),
    ("synchronize_rcu", Wait::GracePeriod),
    ("__wait_rcu_gp", Wait::GracePeriod),
    ("synchronize_srcu", Wait::GracePeriod),
    ("__synchronize_srcu", Wait::GracePeriod),
    ("flush_work", Wait::Work),
    ("__flush_work", Wait::Work),
    ("affine_move_task", Wait::Migration),
];
const LOCK: Wait = Wait::KernelLock { owner: None };

/// A sleep by its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SleepStack {
    since: Ns,
    frames: u32,
    /// What it waits for, the outermost function that does so, and the one that called it.
    pub(crate) shows: Option<(Wait, Symbol)>,
    pub(crate) caller: Symbol,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct SleptIn {
    /// The kworkers that began the first work item of the thread's own call in which it slept: since when it did, and when they did.
    begun: VecDeque<(Ns, Tid, Ns)>,
    reasons: VecDeque<(Ns, BlockedReason)>,
    stacks: VecDeque<SleepStack>,
    /// When sleeps ended, and since when the device or the timer that ended each was done.
    done: VecDeque<(Ns, Ns)>,
}

impl SleptIn {
    /// A sleep ended at `at`, and the kernel traced what it was in.
    pub(crate) fn ended(&mut self, at: Ns, reason: BlockedReason) {
        self.reasons.push_back((at, reason));
    }

    /// A sleep ended at `at`; its device or timer was done at `since`.
    pub(crate) fn done(&mut self, at: Ns, since: Ns) {
        self.done.push_back((at, since));
    }

    /// Since when the device or the timer of the first sleep that ended at `from` or later was done, and when that ended.
    pub(crate) fn done_since(&self, from: Ns) -> Option<(Ns, Ns)> {
        self.done.iter().find(|(ended, _)| *ended >= from).copied()
    }

    /// In the sleep that began at `since`, a kworker began at `at` with a work item that the thread had queued in the same call.
    pub(crate) fn begins_item(&mut self, since: Ns, (kworker, at): (Tid, Ns)) {
        if self.begun.back().is_none_or(|begun| begun.0 != since) {
            self.begun.push_back((since, kworker, at));
        }
    }

    /// The kworker that began the first such work item in the sleep that began at `since`, and when.
    pub(crate) fn first_item(&self, since: Ns) -> Option<(Tid, Ns)> {
        self.begun.iter().rev().find(|begun| begun.0 == since).map(|&(_, kworker, at)| (kworker, at))
    }

    /// The next function outwards of the stack of a sleep that began at `since`; what the thread waits for, where this one shows
    /// that first.
    pub(crate) fn frame(&mut self, since: Ns, function: Symbol) -> Option<Wait> {
        if self.stacks.back().is_none_or(|stack| stack.since != since) {
            self.stacks.push_back(SleepStack { since, frames: 0, shows: None, caller: Symbol::default() });
        }
        let stack = self.stacks.back_mut()?;
        stack.frames += 1;
        if stack.frames > MOST_FRAMES || !stack.caller.is_empty() {
            return None;
        }
        let wait = SLEEPERS.iter().find(|(begin, _)| function.as_str().starts_with(begin));
        match (wait.map(|(_, wait)| *wait), stack.shows) {
            (Some(wait), None) => {
                stack.shows = Some((wait, function));
                return Some(wait);
            }
            (Some(wait), Some((first, _))) if wait == first => stack.shows = Some((first, function)),
            (_, Some(_)) => stack.caller = function,
            (None, None) => {}
        }
        None
    }

    /// What the kernel traced of the first sleep that ended at `from` or later, and when it ended.
    pub(crate) fn reason(&self, from: Ns) -> Option<(Ns, BlockedReason)> {
        self.reasons.iter().find(|(ended, _)| *ended >= from).copied()
    }

    /// The stack of the sleep that began at `since`, where it shows what that was for.
    pub(crate) fn stack(&self, since: Ns) -> Option<&SleepStack> {
        self.stacks.iter().rev().find(|stack| stack.since == since && stack.shows.is_some())
    }

    /// Nothing before `horizon` is asked for any more.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        while self.reasons.front().is_some_and(|(ended, _)| *ended < horizon) {
            self.reasons.pop_front();
        }
        while self.done.front().is_some_and(|(ended, _)| *ended < horizon) {
            self.done.pop_front();
        }
        while self.begun.front().is_some_and(|begun| begun.0 < horizon) {
            self.begun.pop_front();
        }
        while self.stacks.front().is_some_and(|stack| stack.since < horizon) {
            self.stacks.pop_front();
        }
    }
}
