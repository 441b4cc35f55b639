//! Which of its two threads a row of a switch has at its head. Linux prints the one that leaves; tracers of other kernels, as
//! OpenHarmony's, print a row once the switch is over, with the one that comes:
//!
//! ```text
//! app-7  [001] .... 5.000633: sched_switch: prev_comm=irq prev_pid=3 ... ==> next_comm=app next_pid=7 next_prio=20
//! ```
//!
//! Read as Linux has it, each such row shows a switch that was not recorded. The rows of the text decide together.

use whylate_base::Tid;
use whylate_events::{Context, Event, EventKind};

/// One row decides nothing: it may be damaged. Linux itself prints none of these.
const FEWEST: u64 = 2;

/// How many rows have which of the two.
#[derive(Default)]
pub(super) struct SwitchHeads {
    /// Rows of switches from one thread to another.
    rows: u64,
    /// Those that begin with the thread that comes.
    by_next: u64,
}

impl SwitchHeads {
    /// Takes in a row that begins with a thread of this name, and gives its event. The idle task, which has the id 0 in the
    /// fields, has one of its own at the head where the kernel gives it one; there its name tells.
    pub(super) fn see(&mut self, comm: &str, event: Event) -> Event {
        let EventKind::Switch(switch) = event.kind else { return event };
        if switch.prev_tid == switch.next_tid {
            return event;
        }
        let is_idle = |tid: Tid, name: &str| tid.is_idle() && !comm.is_empty() && name == comm;
        let tid = match event.context.tid {
            _ if is_idle(switch.prev_tid, switch.prev_comm.as_str()) => Tid::IDLE,
            _ if is_idle(switch.next_tid, switch.next_comm.as_str()) => Tid::IDLE,
            tid => tid,
        };
        self.rows += 1;
        self.by_next += u64::from(tid == switch.next_tid);
        Event { context: Context { tid, ..event.context }, ..event }
    }

    /// Makes the thread that leaves the running one, where the rows have the other at their head.
    pub(super) fn mend(&self, event: &mut Event) {
        if let EventKind::Switch(switch) = &event.kind
            && event.context.tid == switch.next_tid
            && self.are_next()
        {
            event.context.tid = switch.prev_tid;
        }
    }

    fn are_next(&self) -> bool {
        self.by_next >= FEWEST && self.by_next.saturating_mul(4) >= self.rows.saturating_mul(3)
    }
}
