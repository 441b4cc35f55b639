//! The activation to which nothing happened: woken, switched in by the first choice of the scheduler, done.
//!
//! Until that choice its CPU was idle, or ran one thread: one that it outranks, which gave way at once, or one that goes
//! first by the rules. Most activations of most traces are like this, and their ledger is known without a walk through
//! all that happened meanwhile. Tests compare every one with the result of the walk.

use super::overdue::{ORDINARY, late_timers, of_idle_exit};
use super::placement::LONGEST_MOVE;
use super::precedence::{Contender, Relation};
use super::queue::ORDINARY_DISPATCH;
use super::waiting::{LONGEST_PREEMPTION, is_queued_at};
use crate::causes::Cause;
use crate::model::{Culprit, Segment};
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::recent::partition_from_end;
use crate::timeline::running::Running;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Ns, SchedClass};
use whylate_events::Kind;

/// The ledger of a plain activation, due to `end`; `None` of any other.
pub(crate) fn plain(timeline: &Timeline, thread: &Thread, open: &Open, end: Ns) -> Option<[Segment; 2]> {
    let (due, running, cpu) = (open.due, open.running?, open.cpu?);
    let woken_at_once = match open.begin {
        Begin::Woken(WakeCause::Timer { .. }) | Begin::Marked | Begin::TraceStart => false,
        Begin::Woken(_) => open.waking == due && due < running && running - due < LONGEST_MOVE,
    };
    if !woken_at_once
        || running >= end
        || !open.is_unmarked()
        || open.ends_unseen
        || open.queued_late_by.is_some()
    {
        return None;
    }

    // The thread: asleep, queued, running, in this order and no more.
    let [asleep, queued, runs] = thread.history.last_three_before(end)?;
    let slept =
        matches!(asleep.state, State::Blocked { wait, .. } if !wait.continues()) && asleep.start <= due;
    let queued_here = matches!(queued.state, State::Queued(on) if on == cpu)
        && queued.start > due
        && queued.start <= running;
    let ran_here = matches!(runs.state, State::Running(on) if on == cpu) && runs.start == running;
    if !(slept && queued_here && ran_here && thread.priority_changes(due, running).next().is_none()) {
        return None;
    }

    // The CPU: idle or one other thread, and then itself.
    let history = timeline.cpus.get(cpu)?;
    let slices = &history.slices;
    let next = partition_from_end(slices, |slice| slice.start < running);
    let (before, own) = (slices.get(next.checked_sub(1)?)?, slices.get(next)?);
    let itself = own.switched
        && own.start == running
        && matches!(own.running, Running::Task(tid, _) if tid == thread.tid);
    let alone = slices.get(next + 1).is_none_or(|slice| slice.start >= end);
    // It had left its idle state by then.
    let was_awake = before.running == Running::Idle && open.awake == Some(cpu);
    if was_awake || !(before.start < due && itself && alone) {
        return None;
    }
    let (cause, by, confidence) = wait(timeline, thread, before.running, (due, queued.start, running))?;

    let passed_over =
        timeline.windows.is_open(cpu) || history.passed_over_until.is_some_and(|until| until > due);
    let lost = timeline.losses.partial_between(cpu, running, end).next().is_some();
    if passed_over || lost || late_timers(history, due, end).next().is_some() {
        return None;
    }
    let waited = Segment { cause, start: due, end: running, cpu, by, owner: None, confidence };
    let worked = Segment {
        cause: Cause::OwnWork,
        start: running,
        end,
        by: None,
        confidence: Confidence::High,
        ..waited
    };
    Some([waited, worked])
}

/// What the wait of a thread is charged to that was due, was queued and ran at these instants, while its CPU did nothing
/// but what it did `before`, and how sure that is; `None` where that takes a closer look.
fn wait(
    timeline: &Timeline,
    thread: &Thread,
    before: Running,
    (due, queued, running): (Ns, Ns, Ns),
) -> Option<(Cause, Option<Culprit>, Confidence)> {
    let waiter = Contender::at(thread, due);
    let may_be_throttled =
        waiter.priority.class() == SchedClass::Fair && timeline.quota.last_between(due, running).is_some();
    match before {
        _ if may_be_throttled => None,
        Running::Idle if running - due <= ORDINARY => Some((Cause::IdleExit, None, of_idle_exit(timeline))),
        Running::Task(tid, theirs) if tid != thread.tid => {
            let thread = timeline.threads.get(tid);
            let comm_at = |instant| thread.map(|thread| thread.comm_at(instant)).unwrap_or_default();
            let runner = Contender { tid, comm: comm_at(due), priority: theirs };
            let cause = match Relation::of(&waiter, &runner) {
                Relation::LowerPriority
                    if waiter.priority.class() == SchedClass::Realtime
                        && !waiter.is_stopper()
                        && running - due <= ORDINARY_DISPATCH =>
                {
                    return Some((Cause::Dispatch, None, Confidence::High));
                }
                Relation::EqualPriority => Cause::EqualPriorityTask,
                // It may have given way.
                Relation::Fair
                    if running - queued <= LONGEST_PREEMPTION
                        && thread.is_some_and(is_queued_at(running)) =>
                {
                    return None;
                }
                Relation::Fair => Cause::FairQueue,
                _ => return None,
            };
            let boosted = timeline.seen.contains(Kind::PiSetprio);
            let by = Culprit::Task { tid, comm: runner.comm, priority: theirs };
            (runner.comm == comm_at(queued) && !boosted).then_some((cause, Some(by), Confidence::High))
        }
        _ => None,
    }
}
