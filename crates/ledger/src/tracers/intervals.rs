//! An interval that is charged piece by piece, the strongest claim first; nothing is charged twice.
//!
//! ```text
//! due                                     running
//!  |-------[timer irq][irq ]----------------|     1. interrupts, as they were measured
//!  |-------[timer irq][irq ][ thread  ]-----|     2. below them, threads: net times, so they fill what is left
//!  |delay--[timer irq][irq ][ thread  ]rest-|     3. the rest
//! ```

use crate::charge::attribution::Charge;
use crate::model::Segment;
use whylate_base::{Cpu, Ns};

/// See the module.
pub(super) struct Intervals {
    cpu: Cpu,
    /// What is not charged yet: disjoint, in order, none empty.
    free: Vec<(Ns, Ns)>,
    segments: Vec<Segment>,
}

impl Intervals {
    /// All of `from..to` is free.
    pub(super) fn new(cpu: Cpu, from: Ns, to: Ns) -> Intervals {
        let free = if from < to { vec![(from, to)] } else { Vec::new() };
        Intervals { cpu, free, segments: Vec::new() }
    }

    /// Charges up to `time` of what is free in `from..to`, from its beginning; returns how much it was.
    pub(super) fn fill(&mut self, from: Ns, to: Ns, time: Ns, charge: Charge) -> Ns {
        if from >= to {
            return Ns::ZERO;
        }
        let first = self.free.partition_point(|&(_, end)| end <= from);
        let (mut at, mut left) = (first, time);
        let mut kept: Vec<(Ns, Ns)> = Vec::new();
        while let Some(&(start, end)) = self.free.get(at).filter(|gap| gap.0 < to && left > Ns::ZERO) {
            let begin = start.max(from);
            let stop = end.min(to).min(begin + left);
            if start < begin {
                kept.push((start, begin));
            }
            if begin < stop {
                left -= stop - begin;
                self.charge(begin, stop, charge);
            }
            if stop < end {
                kept.push((stop, end));
            }
            at += 1;
        }
        self.free.splice(first..at, kept);
        time - left
    }

    /// Charges what is still free, each piece by its place, and gives the segments in time order.
    pub(super) fn finish(mut self, mut rest: impl FnMut(Ns, Ns) -> Charge) -> Vec<Segment> {
        for (from, to) in std::mem::take(&mut self.free) {
            let charge = rest(from, to);
            self.charge(from, to, charge);
        }
        self.segments.sort_by_key(|segment| segment.start);
        let mut merged: Vec<Segment> = Vec::with_capacity(self.segments.len());
        for segment in self.segments {
            match merged.last_mut() {
                Some(last)
                    if (last.cause, last.by, last.confidence)
                        == (segment.cause, segment.by, segment.confidence) =>
                {
                    last.end = segment.end;
                }
                _ => merged.push(segment),
            }
        }
        merged
    }

    fn charge(&mut self, start: Ns, end: Ns, charge: Charge) {
        let Charge { cause, by, owner, confidence } = charge;
        self.segments.push(Segment { cause, start, end, cpu: self.cpu, by, owner, confidence });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Cause;
    use crate::charge::tiles;
    use proptest::prelude::*;
    use whylate_base::Confidence;

    #[test]
    fn what_was_claimed_is_not_claimed_again() {
        let charge = |cause| Charge::to(cause, None, Confidence::High);
        let mut intervals = Intervals::new(Cpu(0), Ns(0), Ns(100));
        assert_eq!(intervals.fill(Ns(10), Ns(100), Ns(20), charge(Cause::Irq)), Ns(20));
        // Net time flows around what is above it.
        assert_eq!(intervals.fill(Ns(5), Ns(100), Ns(15), charge(Cause::Softirq)), Ns(15));
        assert_eq!(intervals.fill(Ns(90), Ns(95), Ns(50), charge(Cause::Nmi)), Ns(5));
        let segments = intervals.finish(|_, _| Charge::unexplained());
        let ends: Vec<_> = segments.iter().map(|s| (s.cause, s.start.0, s.end.0)).collect();
        assert_eq!(
            ends,
            [
                (Cause::Unexplained, 0, 5),
                (Cause::Softirq, 5, 10),
                (Cause::Irq, 10, 30),
                (Cause::Softirq, 30, 40),
                (Cause::Unexplained, 40, 90),
                (Cause::Nmi, 90, 95),
                (Cause::Unexplained, 95, 100),
            ]
        );
    }

    proptest! {
        #[test]
        fn intervals_tile(
            to in 0..200_i64,
            claims in proptest::collection::vec((-20..220_i64, -20..220_i64, -5..60_i64, 0..4_usize), 0..20),
        ) {
            let mut intervals = Intervals::new(Cpu(0), Ns(0), Ns(to));
            let mut claimed = Ns::ZERO;
            for (from, until, time, cause) in claims {
                claimed += intervals.fill(Ns(from), Ns(until), Ns(time), Charge::to(Cause::ALL[cause], None, Confidence::High));
            }
            let segments = intervals.finish(|_, _| Charge::unexplained());
            prop_assert!(tiles(&segments, Ns(0), Ns(to)), "{segments:?}");
            let explained: Ns = segments.iter().filter(|s| s.cause != Cause::Unexplained).map(Segment::length).sum();
            prop_assert_eq!(explained, claimed);
        }
    }
}
