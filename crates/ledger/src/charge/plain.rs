//! The activation to which nothing happened: woken on the CPU of a thread that it outranks, switched in at once, done.
//!
//! Most activations of most traces are like this, and their ledger is known without a walk through all that
//! happened meanwhile. Tests compare every one with the result of the walk.

use super::overdue::late_timers;
use super::queue::ORDINARY_DISPATCH;
use crate::causes::Cause;
use crate::model::Segment;
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::recent::partition_from_end;
use crate::timeline::running::Running;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Ns, SchedClass};

/// The ledger of a plain activation, due to `end`; `None` of any other.
pub(crate) fn plain(timeline: &Timeline, thread: &Thread, open: &Open, end: Ns) -> Option<[Segment; 2]> {
    let (due, running, cpu) = (open.due, open.running?, open.cpu?);
    let woken_at_once = match open.begin {
        Begin::Woken(WakeCause::Timer { .. }) | Begin::TraceStart => false,
        Begin::Woken(_) => open.waking == due && due < running && running - due <= ORDINARY_DISPATCH,
    };
    let eventless = open.faults.is_empty()
        && open.spins.is_empty()
        && open.long_return.is_none()
        && open.checkpoint.is_none();
    if !woken_at_once || running >= end || !eventless {
        return None;
    }

    // The thread: asleep, queued, running, in this order and no more.
    let history = &thread.history;
    let next = partition_from_end(history, |span| span.start <= due);
    let asleep = history.get(next.checked_sub(1)?)?;
    let (queued, runs) = (history.get(next)?, history.get(next + 1)?);
    let slept = matches!(asleep.state, State::Blocked { wait, .. } if !wait.continues());
    let queued_here = queued.state == State::Queued(cpu) && queued.start <= running;
    let ran_here = runs.state == State::Running(cpu) && runs.start == running;
    let ended = history.get(next + 2).is_none_or(|span| span.start >= end);
    let mine = thread.priority_at(due);
    let steady = mine.class() == SchedClass::Realtime && thread.keeps_priority(due, running);
    if !(slept && queued_here && ran_here && ended && steady) {
        return None;
    }

    // The CPU: one thread that it outranks, and then itself.
    let history = timeline.cpus.get(cpu)?;
    let slices = &history.slices;
    let next = partition_from_end(slices, |slice| slice.start <= due);
    let (before, own) = (slices.get(next.checked_sub(1)?)?, slices.get(next)?);
    let outranked = match before.running {
        Running::Task(tid, theirs) => tid != thread.tid && mine.outranks(theirs),
        _ => false,
    };
    let itself = own.switched
        && own.start == running
        && matches!(own.running, Running::Task(tid, _) if tid == thread.tid);
    let alone = slices.get(next + 1).is_none_or(|slice| slice.start >= end);
    if !(outranked && before.start < due && itself && alone) {
        return None;
    }

    let passed_over =
        timeline.windows.is_open(cpu) || history.passed_over_until.is_some_and(|until| until > due);
    let lost = timeline.losses.partial_between(cpu, running, end).next().is_some();
    if passed_over || lost || late_timers(history, running, end).next().is_some() {
        return None;
    }
    let segment = |cause, start, end| Segment {
        cause,
        start,
        end,
        cpu,
        by: None,
        owner: None,
        confidence: Confidence::High,
    };
    Some([segment(Cause::Dispatch, due, running), segment(Cause::OwnWork, running, end)])
}
