//! Why a culprit delayed others, in the words of a title.

use super::group::Group;
use crate::causes::{Cause, grace_period};
use crate::charge::notes::{VerdictNote, carrier, goes_on, is_boosted, shown, stopped_by};
use crate::findings::subject::Subject;
use crate::model::{Activation, Culprit, Segment};
use crate::stats;
use crate::verdict::expirer;

/// The reason that the longest delay shows.
pub(super) fn of(group: &Group<'_>) -> String {
    let Group { subject, cause, by, .. } = *group;
    let Some(usual) = cause.info().details.culprit_finding else { return cause.code().to_owned() };
    let special = group.late.first().and_then(|longest| {
        let (activation, notes) = (longest.activation, group.notes());
        kept_owner(subject, activation, cause, by)
            .or_else(|| kept_from_expiring(subject, activation, cause, &by))
            .or_else(|| in_its_notes(group, notes))
    });
    special.unwrap_or_else(|| usual.to_owned())
}

fn in_its_notes(group: &Group<'_>, notes: &[VerdictNote]) -> Option<String> {
    let reason = match group.cause {
        Cause::HigherPriorityTask if is_boosted(notes, &group.by) => "higher priority, inherited by a lock",
        Cause::PreemptionDisabled if goes_on(notes, Some(group.by)).is_some() => {
            "no preemption within the kernel"
        }
        Cause::DeadlineTask if group.is_among_deadlines() => "an earlier deadline",
        Cause::SoftirqDeferred if grace_period::ends_by(carrier(notes)) => {
            "the end of a grace period of RCU deferred"
        }
        Cause::Stopped if group.is_traced() => "it stopped that thread (ptrace)",
        Cause::Stopped => return stopped_by(notes).map(|name| format!("it stopped that thread ({name})")),
        _ => return None,
    };
    Some(reason.to_owned())
}

/// The owner of a lock that a thread waited for, which the culprit kept off its CPU.
fn kept_owner(subject: &Subject<'_>, activation: &Activation, cause: Cause, by: Culprit) -> Option<String> {
    let of_group = |segment: &&Segment| (segment.cause, segment.by) == (cause, Some(by));
    let owner = stats::lock_owner(activation.ledger.iter().filter(of_group))?;
    let longest = activation.ledger.iter().filter(of_group).max_by_key(|segment| segment.length())?;
    if *owner == by || !cause.culprit_runs_first() {
        return None;
    }
    let owner = shown(subject.notes(activation), owner);
    Some(format!("it kept {owner}, which held a lock, off CPU {}", longest.cpu))
}

/// How a culprit delays a thread that goes before it: it keeps the one off the CPU that runs the thread's timer.
fn kept_from_expiring(
    subject: &Subject<'_>,
    activation: &Activation,
    cause: Cause,
    by: &Culprit,
) -> Option<String> {
    let &Culprit::Task { priority, .. } = by else { return None };
    if cause == Cause::LockWait {
        let expirer = expirer::of(subject.notes(activation), &activation.ledger, (cause, Some(*by)))?;
        return Some(format!("it held a lock for which {expirer} waited, which runs that thread's timer"));
    }
    let delays_itself = match cause {
        Cause::EqualPriorityTask => priority == activation.priority,
        _ => priority.outranks(activation.priority),
    };
    if delays_itself || !cause.culprit_runs_first() {
        return None;
    }
    subject.notes(activation).iter().find_map(|note| match note {
        VerdictNote::Expirer { thread, .. } => {
            Some(format!("it runs before {thread}, which runs that thread's timer"))
        }
        _ => None,
    })
}
