//! Two measurements side by side: did it become better or worse, and is that more than chance?

use crate::normal::{binomial_at_most, quantile, two_sided};
use crate::{Histogram, Maxima};
use whylate_base::Ns;

/// How far a quantile moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The share of samples below it.
    pub q: f64,
    /// It was.
    pub before: Ns,
    /// It is.
    pub after: Ns,
    /// The least that it moved by, with 95 %: positive is later. `None`: one of the two has too few samples.
    pub least: Option<Ns>,
    /// The most that it moved by.
    pub most: Option<Ns>,
}

impl Shift {
    /// Of the quantile `q` of two distributions; `None` where one of them has no sample beyond it.
    ///
    /// The intervals of both quantiles, by the ranks that a binomial count may take, are put together as Zou and Donner
    /// do (Statistics in Medicine 27, 2008).
    pub fn of(before: &Histogram, after: &Histogram, q: f64) -> Option<Shift> {
        let (a, b) = (before.tail(q)?, after.tail(q)?);
        let (of_a, of_b) = (interval(before, q), interval(after, q));
        let root = |x: Ns, y: Ns| Ns((x.0 as f64).hypot(y.0 as f64).round() as i64);
        let both = of_a.zip(of_b);
        Some(Shift {
            q,
            before: a,
            after: b,
            least: both.map(|((_, high_a), (low_b, _))| b - a - root(high_a - a, b - low_b)),
            most: both.map(|((low_a, _), (_, high_b))| b - a + root(a - low_a, high_b - b)),
        })
    }

    /// True where chance is no explanation: the interval does not hold 0.
    pub fn is_shown(&self) -> bool {
        self.least.is_some_and(|least| least > Ns::ZERO) || self.most.is_some_and(|most| most < Ns::ZERO)
    }
}

/// Between which samples a quantile lies, with 95 %. `None` where that may be beyond the last one.
pub fn interval(histogram: &Histogram, q: f64) -> Option<(Ns, Ns)> {
    let n = histogram.count() as f64;
    let spread = quantile(0.975) * (n * q * (1.0 - q)).sqrt();
    let (low, high) = ((n * q - spread).floor(), (n * q + spread).ceil() + 1.0);
    (low >= 1.0 && high <= n)
        .then(|| histogram.ranked(low as u64).zip(histogram.ranked(high as u64)))
        .flatten()
}

/// How often both are beyond one threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// The threshold: a quantile of both together.
    pub threshold: Ns,
    /// So many of the first are beyond.
    pub before: u64,
    /// So many of the second.
    pub after: u64,
    /// How likely chance divides them so unevenly, or more.
    pub p: f64,
}

impl Tails {
    /// Beyond the highest quantile of both together that has some 50 samples beyond, from the 90th percentile on.
    /// `None` with too few samples.
    pub fn of(before: &Histogram, after: &Histogram) -> Option<Tails> {
        const BEYOND: u64 = 50;
        let mut both = before.clone();
        both.merge(after);
        let share = 1.0 - BEYOND as f64 / both.count() as f64;
        if share < 0.9 || before.count() == 0 || after.count() == 0 {
            return None;
        }
        let threshold = both.percentile(share)?;
        let (a, b) = (before.beyond(threshold), after.beyond(threshold));
        let share_of_after = after.count() as f64 / both.count() as f64;
        (a + b > 0).then(|| Tails { threshold, before: a, after: b, p: uneven(b, a + b, share_of_after) })
    }
}

/// How likely a binomial count is as unlikely as `k` of `n`, or more.
pub(crate) fn uneven(k: u64, n: u64, p: f64) -> f64 {
    let below = binomial_at_most(k, n, p);
    let above = if k == 0 { 1.0 } else { 1.0 - binomial_at_most(k - 1, n, p) };
    (2.0 * below.min(above)).min(1.0)
}

/// Whose blocks have the larger maxima (Mann and Whitney).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Larger {
    /// The share of pairs of blocks in which the second's maximum is the larger: 0.5 for no difference.
    pub share: f64,
    /// How likely chance is as far from one half.
    pub p: f64,
}

impl Larger {
    /// Of maxima over blocks of the same length; `None` with fewer than 8 of either, or where all are the same.
    pub fn of(before: &Maxima, after: &Maxima) -> Option<Larger> {
        let length = before.length().max(after.length());
        let (before, after) = (before.coarser(length), after.coarser(length));
        (before.length() == after.length())
            .then(|| Larger::of_values(&before.complete(), &after.complete()))
            .flatten()
    }

    /// Of two samples of maxima.
    pub fn of_values(before: &[Ns], after: &[Ns]) -> Option<Larger> {
        let (n, m) = (before.len() as f64, after.len() as f64);
        if before.len() < 8 || after.len() < 8 {
            return None;
        }
        let mut all: Vec<(Ns, bool)> =
            before.iter().map(|x| (*x, false)).chain(after.iter().map(|x| (*x, true))).collect();
        all.sort_unstable();
        let (mut rank, mut sum, mut ties) = (0.0, 0.0, 0.0);
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            let t = same.len() as f64;
            sum += (rank + (t + 1.0) / 2.0) * same.iter().filter(|value| value.1).count() as f64;
            (rank, ties) = (rank + t, ties + t * (t * t - 1.0));
        }
        let u = sum - m * (m + 1.0) / 2.0;
        let total = n + m;
        let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
        (variance > 0.0)
            .then(|| Larger { share: u / (n * m), p: two_sided((u - n * m / 2.0) / variance.sqrt()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drawn(seed: u64, count: usize, scale: f64) -> Histogram {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| Ns((2_000.0 - scale * (1.0 - random.f64()).ln()) as i64)).collect()
    }

    #[test]
    fn a_shift_is_seen_and_none_is_not() {
        let (before, after) = (drawn(1, 50_000, 1_000.0), drawn(2, 50_000, 1_300.0));
        for q in [0.5, 0.99, 0.999] {
            let shift = Shift::of(&before, &after, q).expect("samples");
            let truth = Ns((-300.0 * (1.0 - q).ln()) as i64);
            assert!(shift.is_shown(), "{shift:?}");
            assert!(
                shift.least.zip(shift.most).is_some_and(|(least, most)| least <= truth && truth <= most),
                "{shift:?}"
            );
        }
        assert!(Tails::of(&before, &after).is_some_and(|tails| tails.p < 1e-3 && tails.after > tails.before));
        assert_eq!(Shift::of(&before, &after, 0.999_999), None);
        let few = drawn(3, 2_000, 1_000.0);
        let shift = Shift::of(&few, &after, 0.9993).expect("samples beyond");
        assert_eq!((shift.least, shift.is_shown()), (None, false));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_same_is_rarely_called_different(seed in 0u64..100_000) {
            let (a, b) = (drawn(seed, 4_000, 1_000.0), drawn(seed + 1_000_000, 4_000, 1_000.0));
            // 1 in 100,000 of chance's divisions; a test that fails by chance is none.
            prop_assert!(Tails::of(&a, &b).is_none_or(|tails| tails.p > 1e-5));
            let shift = Shift::of(&a, &b, 0.5).expect("samples");
            prop_assert!(shift.least.is_some_and(|least| least < Ns(60)), "{:?}", shift);
        }

        #[test]
        fn swapping_turns_everything_round(seed in 0u64..100_000) {
            let (a, b) = (drawn(seed, 1_000, 1_000.0), drawn(seed + 7, 3_000, 1_500.0));
            let (there, back) = (Shift::of(&a, &b, 0.9), Shift::of(&b, &a, 0.9));
            let (there, back) = (there.expect("samples"), back.expect("samples"));
            prop_assert_eq!(there.least, back.most.map(|most| Ns(-most.0)));
            prop_assert_eq!(there.is_shown(), back.is_shown());
        }
    }
}
