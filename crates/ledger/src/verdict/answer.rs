//! Which of the causes in an activation's ledger is the answer, and whether the activation was late at all.

use super::heaviest::heaviest;
use super::start::{NOTABLE, starts_late, starts_mostly};
use super::usual::Usually;
use crate::causes::Cause;
use crate::charge::notes::{VerdictNote, is_called};
use crate::model::{Culprit, Segment};
use crate::stats::Charged;
use whylate_base::Ns;

/// The same as [`NOTABLE`] where another tool, by a limit of its own, reports that it was late. A thread that gives way at once
/// takes some microseconds for it.
const NOTABLE_BY_TOOL: Ns = Ns::from_us(10);
/// Nor did a delay of up to [`MINOR`] that is a smaller share of the response than this.
const NOTABLE_SHARE: f64 = 0.1;
/// Several delays that are each below [`NOTABLE`] made a thread late where they are this share of the response.
const MOST_SHARE: f64 = 0.5;
/// The same of delays that are not part of all work, such as the time that other threads had the CPU.
const SUBSTANTIAL_SHARE: f64 = 0.2;
/// Interrupts and the like are part of all long work, and own work of all that waits; a smaller share than this is no answer.
const ROUTINE_SHARE: f64 = 0.02;
/// See [`NOTABLE_SHARE`].
const MINOR: Ns = Ns::from_us(200);
/// A delay by others from this on is one, however long the thread then works.
const LONG_DELAY: Ns = Ns::from_ms(1);

/// The answer to why an activation was late.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) cause: Cause,
    pub(super) by: Option<Culprit>,
    /// What is charged to both.
    pub(super) charged: Ns,
    /// Nothing delayed it notably: the answer is what its time was.
    pub(super) on_time: bool,
    /// A delay of some length that was a small part of it.
    pub(super) beside_work: Option<(Cause, Ns)>,
    /// Threads that it woke itself, and that run before it, had the CPU for most of it.
    pub(super) mostly_called: bool,
    /// The deadline that it missed, where its usual work alone is longer.
    pub(super) work_misses: Option<Ns>,
}

/// The answer among `groups`, of an activation that was to be done within `deadline`, where that is known. Only what goes beyond the
/// usual made a thread late, unless the usual itself is longer than the deadline.
pub(super) fn of(usually: &Usually<'_>, groups: &[Charged], is_text: bool, deadline: Option<Ns>) -> Answer {
    let &Usually { stats, activation, judged, notes, .. } = usually;
    let knows_usual = stats.show_usual();
    let weighed: Vec<(Ns, Charged)> =
        groups.iter().map(|&(key, time)| (usually.exceeded_by(key, time), (key, time))).collect();
    let response: Ns = judged.iter().map(Segment::length).sum();
    let overrun = deadline.map(|deadline| response - deadline).filter(|overrun| *overrun > Ns::ZERO);
    let exceeded: Ns = weighed.iter().map(|(weight, _)| *weight).sum();
    let (excess, (cause, by), charged) = match overrun.is_some_and(|overrun| exceeded < overrun) {
        true => heaviest(&groups.iter().map(|&(key, time)| (time, (key, time))).collect::<Vec<_>>()),
        false => heaviest(&weighed),
    };
    let work_misses = deadline.filter(|deadline| {
        overrun.is_some() && cause == Cause::OwnWork && knows_usual && usually.work > *deadline
    });
    let share_of = |time: Ns| if response > Ns::ZERO { time.0 as f64 / response.0 as f64 } else { 0.0 };
    let routine = cause.info().details.routine;
    let notable = if notes.contains(&VerdictNote::TooLate) { NOTABLE_BY_TOOL } else { NOTABLE };
    // Where it is not known what is usual, several small delays that are most of the time are no small matter.
    let delays = weighed.iter().filter(|(_, ((cause, _), _))| *cause != Cause::OwnWork);
    let delayed: Ns = delays.clone().map(|(weight, _)| *weight).sum();
    let is_exception = |cause: Cause| {
        cause == Cause::FairQueue || !cause.info().details.routine && cause != Cause::Unexplained
    };
    let exceptions = delays.filter(|(_, ((cause, _), _))| is_exception(*cause));
    let excepted: Ns = exceptions.map(|(weight, _)| *weight).sum();
    let is_much = |time: Ns, least: f64| time >= NOTABLE && share_of(time) >= least;
    let late_in_all = !knows_usual
        && (is_much(delayed, MOST_SHARE) || is_exception(cause) && is_much(excepted, SUBSTANTIAL_SHARE));
    // What it wakes itself and lets run first is part of its periods: beside that, little is no answer.
    let called =
        || groups.iter().filter(|((cause, by), _)| cause.culprit_runs_first() && is_called(notes, *by));
    let mostly_called = share_of(called().map(|(_, time)| *time).sum()) >= MOST_SHARE;
    let starts_late = !knows_usual && starts_late(activation, (cause, by));
    let is_small = (excess < notable && !late_in_all)
        || (excess < MINOR && share_of(excess) < NOTABLE_SHARE && !starts_late)
        || ((routine || cause == Cause::OwnWork) && share_of(excess) < ROUTINE_SHARE)
        || (!knows_usual && !starts_late && is_beside_work(groups, response, (cause, excess)))
        || (mostly_called && share_of(excess) < NOTABLE_SHARE);
    let on_time = is_small && overrun.is_none();
    let answer = Answer {
        cause,
        by,
        charged,
        on_time,
        beside_work: (excess >= MINOR).then_some((cause, excess)),
        mostly_called,
        work_misses,
    };
    if !on_time {
        return answer;
    }
    let own = |&&((cause, _), _): &&Charged| cause == Cause::OwnWork;
    let most = groups.iter().find(own).or(groups.iter().max_by_key(|(_, time)| *time));
    // Of an activation that goes on behind the text, only the start is known.
    let start = starts_mostly(activation).filter(|_| is_text && activation.done.is_none());
    let called = called().max_by_key(|(_, time)| *time).filter(|_| mostly_called);
    let ((cause, by), charged) =
        start.or(called.or(most).copied()).unwrap_or(((Cause::OwnWork, None), Ns::ZERO));
    Answer { cause, by, charged, ..answer }
}

/// True of a delay that is a small part of a response which is mostly the thread's own work. Where it is not known what is usual,
/// either may be longer than that.
fn is_beside_work(groups: &[Charged], response: Ns, (cause, delay): (Cause, Ns)) -> bool {
    let own = groups.iter().filter(|((cause, _), _)| *cause == Cause::OwnWork).map(|(_, time)| *time);
    let part_of = |time: Ns, share: f64| time.0 as f64 >= response.0 as f64 * share;
    let is_long = !cause.accuses_late_thread() && delay >= LONG_DELAY;
    part_of(own.sum(), MOST_SHARE) && !part_of(delay, NOTABLE_SHARE) && !is_long
}
