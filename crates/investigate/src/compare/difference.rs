//! Two distributions, and by how much they differ.

use whylate_base::Ns;
use whylate_stats::Measured;
use whylate_stats::compare::{Larger, Shift, Tails};
use whylate_stats::summary::{MeanShift, ThreadSummary};

/// The quantiles that are compared.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// What chance does more often than this shows nothing.
pub(super) const SURE: f64 = 0.01;
/// A difference counts from this share on, and from this latency on.
const SHARE: f64 = 0.05;
const NOTHING: Ns = Ns(500);

/// Two distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Their samples.
    pub samples: (u64, u64),
    /// The quantiles that both have.
    pub shifts: Vec<Shift>,
    /// How far the mean moved, where that is all there is: one of them has no histogram.
    pub mean: Option<MeanShift>,
    /// The largest of each.
    pub max: Option<(Ns, Ns)>,
    /// How often both are beyond one threshold; `None`: too few samples.
    pub tails: Option<Tails>,
    /// Whose maxima of blocks of time are larger; `None`: too few, or not known.
    pub larger: Option<Larger>,
}

impl Difference {
    pub(super) fn of(before: &Measured, after: &Measured) -> Difference {
        let (own, other) = (&before.histogram, &after.histogram);
        Difference {
            samples: (own.count(), other.count()),
            shifts: QUANTILES.iter().filter_map(|&q| Shift::of(own, other, q)).collect(),
            mean: mean(before, after),
            max: own.max().zip(other.max()),
            tails: Tails::of(own, other),
            larger: before.maxima.as_ref().zip(after.maxima.as_ref()).and_then(|(a, b)| Larger::of(a, b)),
        }
    }

    /// True where a test can show that more than chance differs: of extremes alone none can.
    pub fn is_tested(&self) -> bool {
        self.has_tested_tail() || self.mean.is_some()
    }

    /// True where a test can show that more than the mean differs.
    pub fn has_tested_tail(&self) -> bool {
        // A threshold that all samples of both are beyond, below their least, tests nothing.
        self.tails.is_some_and(|tails| (tails.before, tails.after) != self.samples)
            || self.larger.is_some()
            || self.shifts.iter().any(|shift| shift.least.is_some())
    }

    /// True where more than chance differs, by as much as the verdict counts.
    pub fn differs(&self) -> bool {
        self.tails.is_some_and(|tails| tails.p < SURE)
            || self.larger.is_some_and(|larger| larger.p < SURE)
            || self.shifts.iter().any(counts)
            || self
                .mean
                .is_some_and(|mean| mean.is_shown() && mean.p < SURE && notable(mean.before, mean.after))
    }
}

/// Of a thread, whose samples are not of a mixture; `None` where its histogram shows more.
fn mean(before: &Measured, after: &Measured) -> Option<MeanShift> {
    let (own, other) = (&before.histogram, &after.histogram);
    let is_alone = own.buckets().is_empty() || other.buckets().is_empty();
    let pair = is_alone.then(|| ThreadSummary::of(own).zip(ThreadSummary::of(other)))?;
    MeanShift::of(&[pair?])
}

/// True of a quantile that moved by more than chance, and by as much as matters.
pub(super) fn counts(shift: &Shift) -> bool {
    shift.is_shown() && notable(shift.before, shift.after)
}

/// True of latencies that differ by as much as matters.
pub fn notable(before: Ns, after: Ns) -> bool {
    let moved = (after - before).0.abs();
    moved >= NOTHING.0 && moved as f64 >= SHARE * before.0 as f64
}

/// Between what a quantile moved, in words: `-3.00 us to over 0 ns`. Of samples in classes of whole microseconds the ends are rounded
/// outward to such: they lie a nanosecond inside a class, or at what the square roots of classes are.
pub fn moved_between(shift: &Shift, shown: impl Fn(Ns) -> String) -> Option<String> {
    const CLASS: i64 = 1_000;
    let (least, most) = shift.least.zip(shift.most)?;
    let is_in_classes = shift.before.0 % CLASS == 0 && shift.after.0 % CLASS == 0;
    if !is_in_classes {
        return Some(format!("{} to {}", shown(least), shown(most)));
    }
    let (from, to) = (least.0.div_euclid(CLASS) * CLASS, most.0.saturating_neg().div_euclid(CLASS) * -CLASS);
    let end = |rounded: i64, own: Ns| match rounded {
        0 if own > Ns::ZERO => format!("over {}", Ns::ZERO),
        0 if own < Ns::ZERO => format!("under {}", Ns::ZERO),
        rounded => shown(Ns(rounded)),
    };
    Some(format!("{} to {}", end(from, least), end(to, most)))
}

/// How likely chance makes such a difference, in words.
pub(super) fn chance(p: f64) -> String {
    match p < 1e-6 {
        true => "by chance: less than once in a million".to_owned(),
        false => format!("by chance: {p:.6}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_inside_classes_of_a_microsecond_are_rounded_outward() {
        let words = |ends: [i64; 4]| {
            let [before, after, least, most] = ends.map(Ns);
            let shift = Shift { q: 0.5, before, after, least: Some(least), most: Some(most) };
            moved_between(&shift, |ns| ns.to_string())
        };
        let cases = [
            ([9_000, 8_000, -2_000, -1], "-2.00 us to under 0 ns"),
            ([8_000, 9_000, 1, 2_000], "over 0 ns to 2.00 us"),
            ([9_000, 9_000, -999, 999], "-1.00 us to 1.00 us"),
            ([9_000, 10_000, -414, 2_236], "-1.00 us to 3.00 us"),
            ([9_000, 9_000, 0, 0], "0 ns to 0 ns"),
            ([9_250, 8_000, -2_000, -1], "-2.00 us to -1 ns"),
        ];
        for (ends, expected) in cases {
            assert_eq!(words(ends).as_deref(), Some(expected), "{ends:?}");
        }
    }
}
