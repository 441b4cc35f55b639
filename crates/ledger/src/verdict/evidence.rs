//! What shows a verdict, beyond the segments that are charged to it.

use super::sentence;
use crate::causes::Cause;
use crate::charge::notes::{VerdictNote, executed};
use crate::model::{Activation, Culprit, IrqKind};
use crate::stats::Charged;
use crate::timeline::Timeline;
use crate::timeline::settings::ResetOnFork;
use std::collections::HashSet;
use whylate_base::{Evidence, Ns, Tid};

/// What is less than one in so many parts of what the culprit took is not worth a sentence.
const HARDLY_ANY: i64 = 100;

/// That a late thread which waited for a CPU began without the real-time policy of the one that started it.
pub(super) fn of_reset(timeline: &Timeline, activation: &Activation, cause: Cause) -> Option<Evidence> {
    let thread = timeline.threads.get(activation.tid).filter(|thread| !thread.ever_realtime)?;
    let reset = thread.lifetime.was_reset.as_ref().filter(|_| cause.is_behind_thread())?;
    Some(reset_on_fork(reset, activation.tid))
}

/// The call by which the policy of its parent did not pass to the thread `child`.
pub(crate) fn reset_on_fork(reset: &ResetOnFork, child: Tid) -> Evidence {
    let (parent, policy) = (format!("{}:{}", reset.comm, reset.by), reset.policy.constant());
    let what = format!(
        "{parent} was given {policy} with SCHED_RESET_ON_FORK, which does not pass to the threads that it starts: thread {child} began \
         with nice 0"
    );
    Evidence::at(reset.at, reset.cpu, what)
}

/// A note on the ledger, where it bears on the verdict.
pub(super) fn noted(note: &VerdictNote, cause: Cause, by: Option<Culprit>) -> Option<Evidence> {
    match (note, cause, by) {
        (VerdictNote::Idle { at, on, idle }, Cause::WakePlacement, _) => {
            Some(Evidence::at(*at, *on, sentence::idle_elsewhere(idle)))
        }
        (VerdictNote::Timers(timers), Cause::Irq, Some(by)) if by.irq_kind() == Some(IrqKind::OwnTimer) => {
            Some(Evidence::at(timers.at, timers.cpu, sentence::timers(timers)))
        }
        (VerdictNote::Executed { kworker, .. }, _, Some(Culprit::Task { tid, .. })) if *kworker == tid => {
            executed(std::slice::from_ref(note), by)
                .map(|what| Evidence::general(format!("it executed {what}")))
        }
        _ => None,
    }
}

/// What threads beside the culprit had the CPU by the same rule, and for how long these had it.
pub(super) fn with_others(groups: &[Charged], cause: Cause, by: Option<Culprit>) -> Option<Evidence> {
    // A thread with another name or priority is the same one.
    let one = |who: Option<Culprit>| match who {
        Some(Culprit::Task { tid, .. }) => Ok(tid),
        _ => Err(who),
    };
    let of_cause =
        || groups.iter().filter(|((other, _), _)| *other == cause).map(|&((_, who), time)| (one(who), time));
    let others = || of_cause().filter(|(who, _)| *who != one(by));
    let time: Ns = others().map(|(_, time)| time).sum();
    let of_culprit: Ns = of_cause().filter(|(who, _)| *who == one(by)).map(|(_, time)| time).sum();
    let threads: HashSet<_> = others().map(|(who, _)| who).collect();
    let text = match threads.len() {
        0 => return None,
        _ if time.0.saturating_mul(HARDLY_ANY) < of_culprit.0 => return None,
        1 => format!("one other thread ran before it as well: {time}"),
        count => format!("{count} other threads ran before it as well: {time} in all"),
    };
    cause.culprit_runs_first().then(|| Evidence::general(text))
}

/// What the bandwidth windows of the activation show beyond their length.
pub(super) fn of_bandwidth(timeline: &Timeline, activation: &Activation) -> Option<Evidence> {
    let window = timeline.windows.iter().find(|window| {
        window.hurt
            && window.cpu == activation.cpu
            && window.start < activation.end
            && window.end.is_some_and(|end| end > activation.due)
    })?;
    let (share, over) = window.used;
    let idle = match (window.saw_idle, window.ran.is_some()) {
        (true, false) => "the CPU was idle",
        (true, true) => "only SCHED_OTHER threads ran, and the CPU was idle",
        (false, _) => "only SCHED_OTHER threads ran",
    };
    let used = match window.shows_user(timeline.bandwidth.at(window.start).period) {
        true => {
            let used = Ns((over.0 as f64 * share) as i64);
            format!("real-time threads had used {used} ({:.0} %) of the {over} before", share * 100.0)
        }
        false => "the trace begins too late to show which threads had used the time".to_owned(),
    };
    Some(Evidence::at(window.start, window.cpu, format!("{idle}; {used}")))
}
