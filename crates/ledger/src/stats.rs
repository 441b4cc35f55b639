//! What is kept of a thread over the whole trace: its distributions, sums, and worst activations.

use crate::cause::Cause;
use crate::charge::Remark;
use crate::model::{Activation, Culprit, Segment};
use crate::quick_hash::QuickMap;
use crate::spread::Distribution;
use std::collections::BTreeMap;
use whylate_base::Ns;

/// One thread's sums.
#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) activations: u64,
    pub(crate) latency: Distribution,
    pub(crate) response: Distribution,
    pub(crate) own_work: Distribution,
    pub(crate) causes: BTreeMap<Cause, Ns>,
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

/// What a culprit cost a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
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
    /// Takes in an activation whose ledger is made, and keeps it if it is among the worst.
    pub(crate) fn record(
        &mut self,
        activation: Activation,
        remarks: Vec<Remark>,
        deadline: Option<Ns>,
        keep: usize,
    ) {
        self.activations += 1;
        if let Some(latency) = activation.latency() {
            self.latency.record(latency);
        }
        if activation.is_whole() {
            self.response.record(activation.response());
        }
        if deadline.is_some_and(|deadline| activation.response() > deadline) {
            self.missed += 1;
        }
        for segment in &activation.ledger {
            let length = segment.length();
            *self.causes.entry(segment.cause).or_default() += length;
            if segment.cause == Cause::Stolen && length > self.longest_theft.0 {
                self.longest_theft = (length, segment.start);
            }
        }
        let (own, others): (Vec<Charged>, Vec<Charged>) =
            charged(&activation.ledger).into_iter().partition(|((cause, _), _)| *cause == Cause::OwnWork);
        if activation.is_whole() {
            self.own_work.record(own.iter().map(|(_, time)| *time).sum());
        }
        for (key, length) in others {
            let cost = self.costs.entry(key).or_default();
            cost.activations += 1;
            cost.total += length;
        }
        let rank = self.worst.partition_point(|kept| kept.activation.response() >= activation.response());
        if rank < keep {
            self.worst.insert(rank, Kept { activation, remarks });
            self.worst.truncate(keep);
        }
    }

    /// True when an activation of this response would be kept.
    pub(crate) fn would_keep(&self, response: Ns, keep: usize) -> bool {
        self.worst.len() < keep || self.worst.last().is_some_and(|kept| response > kept.activation.response())
    }
}
