//! How grave it is that a thread was delayed: what costs little beside its period, happened once in many activations, or was asked
//! for, is no warning.

use super::group::Group;
use super::kin::Delay;
use crate::causes::Cause;
use crate::findings::subject::Subject;
use crate::model::Activation;
use crate::verdict::priority_while;
use whylate_base::{Ns, Severity, Tid};

/// A delay below this, and below one part in so many of the period, leaves nearly all of the period as it was.
pub(super) const MINOR: Ns = Ns::from_us(200);
/// The same of a SCHED_OTHER thread, whose turn itself comes after some milliseconds where others run
/// (`base_slice_ns`, `kernel/sched/fair.c`).
const MINOR_FAIR: Ns = Ns::from_ms(1);
const MINOR_OF_PERIOD: i64 = 50;
/// So many activations of a thread show how often it has one.
const MANY: u64 = 20;
/// What delayed one of them by less, and by less than one part in so many of the period, is an exception that cost little.
const LONG_ONCE: Ns = Ns::from_ms(1);
const PART_OF_PERIOD: i64 = 10;
/// A program that stops another one so often does it as a rule.
const OFTEN_STOPPED: u64 = 3;

/// The severity of delays of which there were `times` in all.
pub(super) fn of(group: &Group<'_>, times: u64) -> Severity {
    let Group { subject, cause, .. } = *group;
    let as_usual: Vec<&Delay<'_>> = group.late.iter().filter(|delay| is_late(group, delay)).collect();
    let late_by = as_usual.iter().map(|delay| delay.charged).max().unwrap_or(Ns::ZERO);
    let matters = |delay: &&Delay<'_>| {
        let tid = delay.activation.tid;
        let thread = subject.timeline.threads.get(tid);
        !thread.is_some_and(|thread| subject.looks_after_others(thread)) && !is_minor(subject, tid, late_by)
    };
    let misses = |deadline: Ns| group.late.iter().any(|delay| delay.activation.response() > deadline);
    // A user's Ctrl-Z is what that user asked for; one that looks into a program with a debugger wants it to go on.
    let seldom_stopped = cause == Cause::Stopped && !group.is_traced() && times < OFTEN_STOPPED;
    let is_meant = group.was_called() || group.is_among_deadlines() || seldom_stopped;
    let once = times == 1 && group.victims().iter().all(|&tid| is_small_once(subject, tid, late_by));
    let matter = || !is_meant && !once && as_usual.iter().any(matters);
    match subject.options.deadline.is_some_and(misses) || matter() {
        true => Severity::Warning,
        false => Severity::Info,
    }
}

/// What a thread waited for before it was real-time, or after, made no period late; nor is a helper late that the culprit set to work.
fn is_late(group: &Group<'_>, delay: &Delay<'_>) -> bool {
    let Group { subject, cause, by, .. } = *group;
    let Activation { priority, .. } = *delay.activation;
    let then = priority_while(subject.timeline, delay.activation, (cause, Some(by)));
    !subject.precedes_real_time(delay.activation)
        && !group.helps(delay.activation)
        && then.is_realtime() == priority.is_realtime()
}

/// True of a delay that one activation of many had: small, and small beside the period. That of a thread with a timer of its own is
/// so less easily.
fn is_small_once(subject: &Subject<'_>, victim: Tid, delay: Ns) -> bool {
    let thread = subject.timeline.threads.get(victim);
    let own = thread.and_then(|thread| thread.pacing.mean_period());
    let least = if own.is_some() { MINOR } else { LONG_ONCE };
    let has_many = subject.stats.get(victim).is_some_and(|stats| stats.activations >= MANY);
    let period = own.or_else(|| mean_distance(subject, victim));
    let is_part = |period: Ns| delay.0.saturating_mul(PART_OF_PERIOD) < period.0;
    has_many && delay < least && period.is_some_and(is_part)
}

/// The mean time from one activation of a thread to the next.
fn mean_distance(subject: &Subject<'_>, tid: Tid) -> Option<Ns> {
    let activations = subject.stats.get(tid)?.activations;
    let length = subject.timeline.now - subject.timeline.first?;
    Some(Ns(length.0 / i64::try_from(activations).ok()?.max(1)))
}

/// True of a delay that is small, and small beside the period of the thread: that of its own timer, or the mean time from
/// one activation to the next. The turn of a SCHED_OTHER thread itself takes longer.
fn is_minor(subject: &Subject<'_>, victim: Tid, delay: Ns) -> bool {
    let thread = subject.timeline.threads.get(victim);
    if delay < MINOR_FAIR && thread.is_some_and(|thread| !subject.usual(thread).priority.is_realtime()) {
        return true;
    }
    let own = thread.and_then(|thread| thread.pacing.mean_period());
    let period = own.or_else(|| mean_distance(subject, victim));
    delay < MINOR && period.is_some_and(|period| delay.0.saturating_mul(MINOR_OF_PERIOD) < period.0)
}
