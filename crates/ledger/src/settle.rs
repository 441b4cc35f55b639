//! Long activations, charged in instalments: what is charged may be forgotten, and memory stays bounded.
//!
//! A thread that polls, starves or is stuck has one activation for all of a trace, and the past of every CPU
//! would be kept for it. Where too much piles up, the activation's ledger is made up to some time ago, and the
//! past behind that goes.

use crate::charge;
use crate::engine::Engine;
use crate::model::Segment;
use whylate_base::{Ns, Tid};

/// Stretches of CPUs' time that are kept without a second thought. A ledger of as many segments takes 30 MB.
pub(crate) const MUCH: usize = 1 << 18;
/// A ledger of more segments is regrouped: nobody reads it, and a page of it takes megabytes.
const MOST_SEGMENTS: usize = 4_000;
/// Neighbours that are summed up together.
const GROUP: usize = 64;

/// What is charged already of an activation in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    pub(crate) ledger: Vec<Segment>,
    /// Everything before is charged.
    pub(crate) until: Ns,
}

impl Engine<'_> {
    /// Charges what is long past of the activations in progress. `until` is when that begins to be recent.
    pub(crate) fn settle(&mut self, until: Ns) {
        let open: Vec<Tid> = self
            .threads
            .iter()
            .filter(|thread| self.options.selects(thread))
            .filter(|thread| thread.open.as_ref().is_some_and(|open| open.settled_until() < until))
            .map(|thread| thread.tid)
            .collect();
        for tid in open {
            let Some(thread) = self.threads.get(tid) else { continue };
            let Some(open) = thread.open.as_ref() else { continue };
            let (ledger, _) = charge::ledger(self, thread, open, until);
            self.note_bandwidth(&ledger);
            if let Some(open) = &mut self.threads.get_mut(tid).open {
                open.settled = Some(Box::new(Settled { ledger: regroup(ledger), until }));
            }
        }
    }
}

/// The same time charged to the same causes and culprits in at most a few thousand segments: where there are
/// more, neighbours of a group are put together by cause and culprit. Sums are exact, places are within a
/// group's.
pub(crate) fn regroup(mut ledger: Vec<Segment>) -> Vec<Segment> {
    while ledger.len() > MOST_SEGMENTS {
        let before = ledger.len();
        let mut grouped: Vec<Segment> = Vec::with_capacity(before / 4);
        for group in ledger.chunks(GROUP) {
            let first = grouped.len();
            let mut at = group.first().map_or(Ns::ZERO, |segment| segment.start);
            for segment in group {
                let same = |other: &&mut Segment| {
                    (other.cause, other.by, other.owner, other.confidence, other.cpu)
                        == (segment.cause, segment.by, segment.owner, segment.confidence, segment.cpu)
                };
                match grouped[first..].iter_mut().find(same) {
                    // Its length for now; its place comes when all lengths are known.
                    Some(other) => other.end += segment.length(),
                    None => grouped.push(*segment),
                }
            }
            for segment in &mut grouped[first..] {
                let length = segment.length();
                (segment.start, segment.end) = (at, at + length);
                at += length;
            }
        }
        ledger = grouped;
        // Where neighbours have little in common there is nothing to gain.
        if ledger.len() * 8 > before * 7 {
            break;
        }
    }
    ledger
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use crate::assemble::tiles;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use whylate_base::{Confidence, Cpu};

    proptest! {
        #[test]
        fn a_regrouped_ledger_tiles_and_adds_up(lengths in prop::collection::vec((0usize..3, 1i64..1000), 0..20_000)) {
            let causes = [Cause::OwnWork, Cause::Irq, Cause::Softirq];
            let mut at = Ns(7);
            let ledger: Vec<Segment> = lengths
                .iter()
                .map(|&(cause, length)| {
                    let start = at;
                    at += Ns(length);
                    Segment {
                        cause: causes[cause],
                        start,
                        end: at,
                        cpu: Cpu(0),
                        by: None,
                        owner: None,
                        confidence: Confidence::High,
                    }
                })
                .collect();
            let sums = |ledger: &[Segment]| {
                let mut sums = HashMap::new();
                ledger.iter().for_each(|segment| *sums.entry(segment.cause).or_insert(Ns::ZERO) += segment.length());
                sums
            };
            let regrouped = regroup(ledger.clone());
            prop_assert!(tiles(&regrouped, Ns(7), at));
            prop_assert_eq!(sums(&regrouped), sums(&ledger));
            prop_assert!(regrouped.len() <= MOST_SEGMENTS);
        }
    }
}
