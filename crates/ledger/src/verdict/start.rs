//! What is charged of the time before a thread runs.

use crate::causes::Cause;
use crate::model::{Activation, Culprit};
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
    let before = activation.ledger.iter().filter(|segment| (segment.cause, segment.by) == key);
    let time: Ns = before.map(|segment| segment.end.min(running).since(segment.start)).sum();
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
