//! Long activations, charged in instalments: what is charged may be forgotten, and memory stays bounded.
//!
//! A thread that polls, starves or is stuck has one activation for all of a trace, and the past of every CPU
//! would be kept for it. Where too much piles up, the activation's ledger is made up to some time ago, and the
//! past behind that goes.

use super::passed_over;
use crate::charge;
use crate::engine::Engine;
use crate::model::Segment;
use crate::timeline::activations::Checkpoint;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use whylate_base::Ns;

/// Pieces of the past of CPUs and threads that are kept without a second thought. A ledger of as many segments
/// takes 30 MB.
pub(super) const MUCH: usize = 1 << 18;
/// A ledger of more segments is regrouped: no user reads it, and a page of it takes megabytes.
const MOST_SEGMENTS: usize = 4_000;
/// Neighbours that are summed up together.
const GROUP: usize = 64;

/// Charges what is long past of the activations in progress. `until` is when that begins to be recent.
pub(super) fn checkpoint(engine: &mut Engine<'_>, until: Ns) {
    end_sleepers(engine, until);
    let long = |thread: &Thread| thread.open.as_ref().is_some_and(|open| open.charged_until() < until);
    for tid in engine.timeline.threads.active_ids(|thread| long(thread) && engine.explains(thread)) {
        let Some(thread) = engine.timeline.threads.get(tid) else { continue };
        let Some(open) = thread.open.as_ref() else { continue };
        let (ledger, _) = charge::ledger(&engine.timeline, thread, open, until);
        passed_over::note(&mut engine.timeline, &ledger);
        let ledger = if engine.keeps_every_segment() { ledger } else { regroup(ledger) };
        if let Some(open) = &mut engine.timeline.threads.get_mut(tid).open {
            open.checkpoint = Some(Box::new(Checkpoint { ledger, until }));
            open.forget_marks(until);
        }
    }
}

/// Ends the activations of threads that have been asleep or out of sight since before `until`.
pub(super) fn end_sleepers(engine: &mut Engine<'_>, until: Ns) {
    let begun = |thread: &Thread| thread.open.as_ref().is_some_and(|open| open.charged_until() < until);
    for tid in engine.timeline.threads.active_ids(begun) {
        let Some(thread) = engine.timeline.threads.get(tid) else { continue };
        let since = thread.since().filter(|&since| since < until);
        match (thread.state(), since) {
            // Asleep until its next period: it was done then, and nothing has woken it since.
            (State::Blocked { wait, .. }, Some(since)) if !wait.continues() && !thread.is_marked => {
                engine.end(tid, Some(since), since)
            }
            // Out of sight for long: what it does when it is seen again is something else.
            (State::Unknown, Some(since)) => engine.end(tid, None, since),
            _ => {}
        }
    }
}

/// The same time charged to the same causes and culprits in at most a few thousand segments: where there are
/// more, neighbours of a group are put together by cause and culprit. Sums are exact, places are within a
/// group's. Where there are more culprits than segments, those that took least have no name any more.
pub(super) fn regroup(mut ledger: Vec<Segment>) -> Vec<Segment> {
    let mut group = GROUP;
    while ledger.len() > MOST_SEGMENTS {
        let before = ledger.len();
        ledger = ledger.chunks(group).flat_map(sum_up).collect();
        if group >= before {
            if ledger.len() > MOST_SEGMENTS {
                forget_least(&mut ledger);
                ledger = sum_up(&ledger);
            }
            break;
        }
        // Where neighbours have little in common, more of them have.
        if ledger.len() * 8 > before * 7 {
            group *= 8;
        }
    }
    ledger
}

/// One segment for each cause and culprit of a group of neighbours.
fn sum_up(group: &[Segment]) -> Vec<Segment> {
    let mut sums: Vec<Segment> = Vec::new();
    let mut places = FxHashMap::default();
    let mut at = group.first().map_or(Ns::ZERO, |segment| segment.start);
    for segment in group {
        let key = (segment.cause, segment.by, segment.owner, segment.confidence, segment.cpu);
        let place = *places.entry(key).or_insert(sums.len());
        match sums.get_mut(place) {
            // Its length for now; its place comes when all lengths are known.
            Some(sum) => sum.end += segment.length(),
            None => sums.push(*segment),
        }
    }
    for segment in &mut sums {
        let length = segment.length();
        (segment.start, segment.end) = (at, at + length);
        at += length;
    }
    sums
}

/// Takes the culprits' names off all but the longest segments: what is left apart is few causes on few CPUs.
fn forget_least(ledger: &mut [Segment]) {
    let mut lengths: Vec<Ns> = ledger.iter().map(Segment::length).collect();
    let (_, &mut shortest, _) =
        lengths.select_nth_unstable_by_key(MOST_SEGMENTS / 2, |&length| Reverse(length));
    for segment in ledger.iter_mut().filter(|segment| segment.length() <= shortest) {
        (segment.by, segment.owner) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;
    use crate::charge::tiles;
    use crate::model::Culprit;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use whylate_base::{Comm, Confidence, Cpu, Priority, Tid};

    #[test]
    fn a_ledger_of_more_culprits_than_it_may_have_segments_is_regrouped() {
        let segment = |tid: i32, length: i64| Segment {
            cause: Cause::HigherPriorityTask,
            start: Ns::ZERO,
            end: Ns(length),
            cpu: Cpu(0),
            by: Some(Culprit::Task { tid: Tid(tid), comm: Comm::default(), priority: Priority(10) }),
            owner: None,
            confidence: Confidence::High,
        };
        // Many that come once, and one that comes again and again.
        let mut at = Ns::ZERO;
        let ledger: Vec<Segment> = (0..40_000)
            .map(|n| if n % 100 == 0 { segment(1, 500) } else { segment(10 + n, 7) })
            .map(|segment| {
                let start = at;
                at += segment.length();
                Segment { start, end: at, ..segment }
            })
            .collect();
        let regrouped = regroup(ledger);
        assert!(regrouped.len() <= MOST_SEGMENTS, "{}", regrouped.len());
        assert!(tiles(&regrouped, Ns::ZERO, at));
        let often = regrouped.iter().filter(|one| matches!(one.by, Some(Culprit::Task { tid: Tid(1), .. })));
        assert_eq!(often.map(Segment::length).sum::<Ns>(), Ns(400 * 500));
    }

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
