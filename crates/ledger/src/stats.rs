//! What is kept of a thread over the whole trace: its distributions, sums, and worst activations.

use crate::cause::Cause;
use crate::charge::Remark;
use crate::model::{Activation, Culprit, Segment};
use crate::quick_hash::QuickMap;
use crate::spread::Distribution;
use whylate_base::Ns;

/// One thread's sums.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) activations: u64,
    pub(crate) latency: Distribution,
    pub(crate) response: Distribution,
    pub(crate) own_work: Distribution,
    causes: [Ns; Cause::ALL.len()],
    /// What each cause and culprit cost over all activations.
    pub(crate) costs: QuickMap<(Cause, Option<Culprit>), Cost>,
    /// The longest time that was stolen at once: how long, and when.
    pub(crate) longest_theft: (Ns, Ns),
    /// Activations whose response exceeded the deadline.
    pub(crate) missed: u64,
    /// The worst activations, worst response first; no verdict yet.
    pub(crate) worst: Vec<Kept>,
}

/// An activation that is kept, with what its verdict will want to know.
pub(crate) struct Kept {
    pub(crate) activation: Activation,
    pub(crate) remarks: Vec<Remark>,
}

/// An activation as the distributions see it.
pub(crate) struct Ended {
    pub(crate) latency: Option<Ns>,
    pub(crate) response: Ns,
    /// It was seen from its beginning to its end.
    pub(crate) whole: bool,
}

/// What a culprit cost a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// The number of the last activation it was in.
    in_activation: u64,
    /// In how many activations.
    pub(crate) activations: u64,
    /// In all.
    pub(crate) total: Ns,
}

/// A cause and culprit, with the time charged to them.
pub(crate) type Charged = ((Cause, Option<Culprit>), Ns);

/// Sums by cause and culprit, in the order in which they first appear. A ledger names few
/// culprits: a list is faster than a table, and is in order.
pub(crate) fn charged(segments: &[Segment]) -> Vec<Charged> {
    let mut sums: Vec<Charged> = Vec::new();
    for segment in segments {
        let key = (segment.cause, segment.by);
        match sums.iter_mut().find(|(sum, _)| *sum == key) {
            Some((_, time)) => *time += segment.length(),
            None => sums.push((key, segment.length())),
        }
    }
    sums
}

impl Stats {
    /// Takes in an activation whose ledger is made.
    pub(crate) fn count(&mut self, ended: &Ended, ledger: &[Segment], deadline: Option<Ns>) {
        self.activations += 1;
        if let Some(latency) = ended.latency {
            self.latency.record(latency);
        }
        if ended.whole {
            self.response.record(ended.response);
        }
        if deadline.is_some_and(|deadline| ended.response > deadline) {
            self.missed += 1;
        }
        let mut own = Ns::ZERO;
        for segment in ledger {
            let length = segment.length();
            self.causes[segment.cause as usize] += length;
            if segment.cause == Cause::OwnWork {
                own += length;
            } else {
                let cost = self.costs.entry((segment.cause, segment.by)).or_default();
                // A culprit of many segments was in this activation once.
                if cost.in_activation != self.activations {
                    cost.in_activation = self.activations;
                    cost.activations += 1;
                }
                cost.total += length;
            }
            if segment.cause == Cause::Stolen && length > self.longest_theft.0 {
                self.longest_theft = (length, segment.start);
            }
        }
        if ended.whole {
            self.own_work.record(own);
        }
    }

    /// Keeps an activation if it is among the worst.
    pub(crate) fn keep(&mut self, kept: Kept, keep: usize) {
        let response = kept.activation.response();
        let rank = self.worst.partition_point(|kept| kept.activation.response() >= response);
        if rank < keep {
            self.worst.insert(rank, kept);
            self.worst.truncate(keep);
        }
    }

    /// What was charged to each cause that there was.
    pub(crate) fn causes(&self) -> impl Iterator<Item = (Cause, Ns)> {
        Cause::ALL.into_iter().zip(self.causes).filter(|(_, time)| *time > Ns::ZERO)
    }

    /// True when an activation of this response would be kept.
    pub(crate) fn would_keep(&self, response: Ns, keep: usize) -> bool {
        self.worst.len() < keep || self.worst.last().is_some_and(|kept| response > kept.activation.response())
    }
}
