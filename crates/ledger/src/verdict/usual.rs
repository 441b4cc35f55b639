//! What of a delay is usual for the thread: its other activations show it as well, and are not late.

use crate::causes::Cause;
use crate::causes::info::Usual;
use crate::charge::notes::{VerdictNote, is_called};
use crate::model::{Activation, Culprit, Segment, Trigger};
use crate::stats::Stats;
use whylate_base::Ns;

/// The way from an interrupt to the thread is no longer than this, and neither is the turn of a thread that gives way.
const LONGEST_USUAL: Ns = Ns::from_us(50);
/// Of threads that wake each other in turn, one may have several wakers: what each costs is usual where it is part of more than
/// one in so many of its activations.
const WAKERS: u64 = 4;

/// An activation, and what is known of the others of its thread.
pub(super) struct Usually<'a> {
    pub(super) stats: &'a Stats,
    pub(super) activation: &'a Activation,
    /// The part of its ledger that is judged.
    pub(super) judged: &'a [Segment],
    pub(super) notes: &'a [VerdictNote],
    /// The median of the thread's own work.
    pub(super) work: Ns,
}

impl Usually<'_> {
    /// What of `time`, charged to a cause and culprit, goes beyond the usual. What is usual is not known of an activation that was
    /// cut off.
    pub(super) fn exceeded_by(&self, (cause, by): (Cause, Option<Culprit>), time: Ns) -> Ns {
        let knows_usual = self.stats.show_usual();
        let mean = |one_in| usual_cost(self.stats, (cause, by), time, one_in);
        match cause.info().details.usual {
            Usual::OwnWork if knows_usual && self.activation.is_whole() => time.since(self.work),
            Usual::OwnWork => Ns::ZERO,
            Usual::WakeUpPath => time.since(mean(2).min(LONGEST_USUAL)),
            Usual::MeanOfLess if self.is_most(time) => time,
            Usual::Mean | Usual::MeanOfLess => time.since(mean(2)),
            // What the thread calls for in most of its periods is part of them.
            Usual::Nothing if is_called(self.notes, by) => time.since(mean(2)),
            Usual::Nothing if gives_way(self.activation, self.judged, (cause, by)) => {
                match mean(WAKERS).min(LONGEST_USUAL) {
                    Ns::ZERO => time,
                    // Of many times, one is twice as long.
                    _ if time <= LONGEST_USUAL => Ns::ZERO,
                    usual => time.since(usual),
                }
            }
            Usual::Nothing => time,
        }
    }

    /// True of most of the response, as far as that is judged.
    fn is_most(&self, time: Ns) -> bool {
        let response: Ns = self.judged.iter().map(Segment::length).sum();
        time.0.saturating_mul(2) >= response.0
    }
}

/// What a cause and culprit cost the thread's other activations on average, where they are part of more than one in
/// `one_in`: the interrupt that wakes a thread always does. A handler that always takes long is no less of an answer for
/// that.
fn usual_cost(stats: &Stats, key: (Cause, Option<Culprit>), here: Ns, one_in: u64) -> Ns {
    if !stats.show_usual() {
        return Ns::ZERO;
    }
    match stats.costs.get(&key) {
        Some(cost) if cost.activations * one_in > stats.activations => {
            Ns((cost.total - here).0 / (cost.activations as i64 - 1).max(1))
        }
        _ => Ns::ZERO,
    }
}

/// True where the culprit woke the thread, and ran on until it gave way: of threads that wake each other in turn, each
/// waits some microseconds for the other.
fn gives_way(activation: &Activation, judged: &[Segment], key: (Cause, Option<Culprit>)) -> bool {
    let (cause, Some(by @ Culprit::Task { tid, .. })) = key else { return false };
    if !cause.info().details.culprit_runs_first {
        return false;
    }
    let mut woke_it = matches!(
        activation.trigger,
        Trigger::Thread { tid: waker, .. } | Trigger::Upon { tid: waker, .. } if waker == tid
    );
    for segment in judged {
        if (segment.cause, segment.by) == key {
            if !woke_it {
                return false;
            }
        } else if !segment.cause.info().details.routine {
            woke_it = segment.owner == Some(by);
        }
    }
    true
}
