//! Which of its two threads a row of a switch has at its head. Linux prints the one that leaves; tracers of other kernels, as
//! OpenHarmony's, print a row once the switch is over, with the one that comes:
//!
//! ```text
//! app-7  [001] .... 5.000633: sched_switch: prev_comm=irq prev_pid=3 ... ==> next_comm=app next_pid=7 next_prio=20
//! ```
//!
//! Read as Linux has it, such a row would show a switch that was not recorded. As Linux prints none, each row decides for
//! itself: texts that were put together from several tracers, or by hand, have both.

use whylate_base::{Comm, Tid};
use whylate_events::{Context, Event, EventKind};

/// The event of a row that begins with a thread of this name; the running thread is the one that leaves, where the row
/// begins with either of the two. The idle task, which has the id 0 in the fields, has one of its own at the head where the
/// kernel gives it one; there its name tells.
pub(super) fn by_who_leaves(comm: &str, event: Event) -> Event {
    let EventKind::Switch(switch) = event.kind else { return event };
    let is_idle = |tid: Tid, name: Comm| tid.is_idle() && !comm.is_empty() && name.is(comm);
    let comes = event.context.tid == switch.next_tid || is_idle(switch.next_tid, switch.next_comm);
    let leaves = is_idle(switch.prev_tid, switch.prev_comm);
    let tid = if comes || leaves { switch.prev_tid } else { event.context.tid };
    Event { context: Context { tid, ..event.context }, ..event }
}
