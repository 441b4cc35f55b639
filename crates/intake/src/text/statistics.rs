//! Statistics of the scheduler (`kernel.sched_schedstats=1`) and the rows that they stand beside: what the text shows of a thread
//! without them.
//!
//! ```text
//! sched_stat_sleep:    comm=app pid=7 delay=940000 [ns]      it is woken, after so long
//! sched_stat_wait:     comm=app pid=7 delay=310000 [ns]      it gets a CPU, and has waited for so long
//! sched_stat_runtime:  comm=app pid=7 runtime=55000 [ns]     it has run for so long since it got the CPU, or was last counted
//! ```
//!
//! `sched_stat_wait` of a thread that was preempted repeats what its switch shows. Of one whose wake-up stands in the text it is nothing
//! new either. Of any other it is all that shows since when it has waited: the excerpt begins later, or lacks that row.

use super::sched::Queued;
use rustc_hash::{FxHashMap, FxHashSet};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{ContextFlags, Event, EventKind};

/// What the rows so far show of threads and CPUs.
#[derive(Default)]
pub(super) struct Statistics {
    /// The text has wake-ups.
    shows_wakeups: bool,
    /// The text has statistics of sleeps that end.
    shows_sleeps: bool,
    /// Threads that run or are on a runqueue, and of which rows show since when.
    placed: FxHashSet<Tid>,
    /// The last event of each CPU, and the thread that it leaves there.
    last: FxHashMap<Cpu, (Ns, Tid)>,
}

impl Statistics {
    /// Takes in an event with a line of its own.
    pub(super) fn see(&mut self, event: &Event) {
        let current = match event.kind {
            EventKind::Switch(switch) => switch.next_tid,
            _ => event.context.tid,
        };
        self.last.insert(event.cpu, (event.ts, current));
        match event.kind {
            EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => {
                self.shows_wakeups = true;
                self.placed.insert(wake.tid);
            }
            EventKind::Switch(switch) => {
                match switch.prev_state.is_runnable() {
                    true => self.placed.insert(switch.prev_tid),
                    false => self.placed.remove(&switch.prev_tid),
                };
                self.placed.insert(switch.next_tid);
            }
            _ if event.context.flags.contains(ContextFlags::BYSTANDER) => {}
            _ => {
                self.placed.insert(event.context.tid);
            }
        }
    }

    /// True where a statistic is all that shows since when its thread has been on a runqueue. The end of a sleep is nearer to it than
    /// the wait behind it, which the runqueue's clock counts.
    pub(super) fn are_needed(&mut self, queued: &Queued) -> bool {
        let is_wait = queued.waited.is_some();
        self.shows_sleeps |= !is_wait;
        let is_first_sight = self.placed.insert(queued.tid);
        match is_wait {
            // The row of its wake-up is the next one.
            false => !self.shows_wakeups,
            true => is_first_sight || !self.shows_wakeups && !self.shows_sleeps,
        }
    }

    /// True where no row shows that a CPU ran this thread at `since`: it has none by then, or the last one shows another thread.
    pub(super) fn lack(&self, cpu: Cpu, tid: Tid, since: Ns) -> bool {
        self.last.get(&cpu).is_none_or(|&(at, current)| at < since && current != tid)
    }
}
