//! What is charged of the time before a thread runs.

use crate::causes::Cause;
use crate::model::{Activation, Culprit, Segment};
use crate::stats::{Charged, charged as charged_by};
use whylate_base::Ns;

/// A delay below this made nothing late.
pub(super) const NOTABLE: Ns = Ns::from_us(20);

/// True of a real-time thread most of whose latency is charged to `key`, a notable one: however long it then works, that is a
/// delay.
pub(super) fn starts_late(activation: &Activation, key: (Cause, Option<Culprit>)) -> bool {
    let Some(running) = activation.running.filter(|_| activation.priority.is_realtime()) else {
        return false;
    };
    let time = before_run(activation, running, |segment| (segment.cause, segment.by) == key);
    key.0 != Cause::OwnWork && time >= NOTABLE && time.0.saturating_mul(2) >= (running - activation.due).0
}

/// What most of the time before its run is charged to, where that is longer than what is shown of the run.
pub(super) fn starts_mostly(activation: &Activation) -> Option<Charged> {
    let running = activation.running?;
    let before = activation.latency().filter(|&latency| latency > activation.end - running)?;
    let segments = activation.ledger.iter().filter(|segment| segment.end <= running).copied();
    let most = charged_by(&segments.collect::<Vec<_>>()).into_iter().max_by_key(|(_, time)| *time);
    most.filter(|((cause, _), time)| {
        ![Cause::OwnWork, Cause::Unexplained].contains(cause) && time.0.saturating_mul(2) >= before.0
    })
}

/// For how long the thread itself ran after it was due, and before it began with what it was due for, where that is most of what is `charged`:
/// it was at the job before.
pub(super) fn at_job_before(activation: &Activation, charged: Ns) -> Option<Ns> {
    let begun = activation.running?;
    let time = before_run(activation, begun, |segment| segment.cause == Cause::OwnWork);
    Some(time).filter(|time| time.0.saturating_mul(2) > charged.0)
}

/// What such segments take of the time before the thread runs.
fn before_run(activation: &Activation, running: Ns, is: impl Fn(&Segment) -> bool) -> Ns {
    let before = activation.ledger.iter().filter(|segment| is(segment));
    before.map(|segment| segment.end.min(running).since(segment.start)).sum()
}
