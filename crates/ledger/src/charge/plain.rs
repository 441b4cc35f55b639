//! The activation to which nothing happened: woken by somebody whom it outranks, switched in at once, done.
//!
//! Most activations of most traces are like this, and their ledger is known without a walk through all that
//! happened meanwhile. Tests compare every one with what the walk says.

use super::late::late_timers;
use super::waiting::ORDINARY_DISPATCH;
use crate::activations::{Begin, Open, WakeCause};
use crate::causes::Cause;
use crate::cpus::Who;
use crate::engine::Engine;
use crate::model::Segment;
use crate::recent::partition_from_end;
use crate::threads::{State, Thread};
use whylate_base::{Confidence, Ns, SchedClass};

/// The ledger of a plain activation, due to `end`; `None` of any other.
pub(crate) fn plain(engine: &Engine<'_>, thread: &Thread, open: &Open, end: Ns) -> Option<[Segment; 2]> {
    let (due, running, cpu) = (open.due, open.running?, open.cpu?);
    let woken_at_once = match open.begin {
        Begin::Woken(WakeCause::Timer { .. }) | Begin::TraceStart => false,
        Begin::Woken(_) => open.waking == due && due < running && running - due <= ORDINARY_DISPATCH,
    };
    let eventless = open.faults.is_empty() && open.spins.is_empty() && open.settled.is_none();
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
    let mine = queued.prio;
    if !(slept && queued_here && ran_here && ended)
        || asleep.prio != mine
        || mine.class() != SchedClass::Realtime
    {
        return None;
    }

    // The CPU: one thread that it outranks, and then itself.
    let timeline = engine.cpus.get(cpu)?;
    let stretches = &timeline.stretches;
    let next = partition_from_end(stretches, |stretch| stretch.start <= due);
    let (before, own) = (stretches.get(next.checked_sub(1)?)?, stretches.get(next)?);
    let outranked = match before.who {
        Who::Task(tid, theirs) => tid != thread.tid && mine.outranks(theirs),
        _ => false,
    };
    let itself =
        own.switched && own.start == running && matches!(own.who, Who::Task(tid, _) if tid == thread.tid);
    let alone = stretches.get(next + 1).is_none_or(|stretch| stretch.start >= end);
    if !(outranked && before.start < due && itself && alone) {
        return None;
    }

    let passed_over = engine.open_windows.contains_key(&cpu.0)
        || timeline.passed_over_until.is_some_and(|until| until > due);
    let lost = engine.partial_losses.iter().any(|loss| loss.0 == cpu && loss.1 < end && loss.2 > running);
    if passed_over || lost || late_timers(timeline, running, end).next().is_some() {
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
