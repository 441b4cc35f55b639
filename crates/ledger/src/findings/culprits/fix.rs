//! What to do about a culprit.

use super::group::Group;
use super::kin::{Delay, is_of_verdict};
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::charge::notes::{
    VerdictNote, deferred, goes_on, is_called, other_lock, own_priority, waits_for_the_kernel,
};
use crate::model::Activation;
use crate::stats;
use crate::verdict::{advice, expirer};
use whylate_base::AdvisedFix;

/// That of the verdict, which has none for what was in time.
pub(super) fn of(group: &Group<'_>, delay: &Delay<'_>) -> Vec<AdvisedFix> {
    let Group { subject, cause, by, .. } = *group;
    let notes = subject.notes(delay.activation);
    let Activation { tid, comm, priority, cpu, ref verdict, ref ledger, .. } = *delay.activation;
    if is_of_verdict(delay.activation, cause, by) && !verdict.fix.is_empty() {
        return verdict.fix.clone();
    }
    let of_group = || ledger.iter().filter(|segment| (segment.cause, segment.by) == (cause, Some(by)));
    let longest = of_group().max_by_key(|segment| segment.length());
    let expirer = expirer::of(notes, ledger, (cause, Some(by))).filter(|_| cause == Cause::LockWait);
    let of = Advised {
        by_own: own_priority(notes, &by),
        lock_owner: stats::lock_owner(of_group()),
        priority: Some(priority),
        late: Some((tid, comm)),
        charged: delay.charged,
        is_traced: notes.contains(&VerdictNote::Traced),
        deferred: deferred(notes),
        same_process: subject.timeline.are_of_one_process(&by, tid),
        is_kin: subject.timeline.are_kin(&by, tid),
        inherited: subject.timeline.inherited_from(&by, tid),
        brief: subject.timeline.is_brief(&by).then_some(by),
        called: is_called(notes, Some(by)),
        goes_on: goes_on(notes, Some(by)).is_some(),
        kernel_lock: waits_for_the_kernel(notes, of_group()),
        no_mutex: other_lock(notes, of_group()).map(|(kind, _)| kind),
        ..Advised::about(Some(&by), Some(longest.map_or(cpu, |segment| segment.cpu)))
    };
    expirer.map_or_else(|| cause.advice(&of), |expirer| advice::expirer(&expirer, &of))
}
