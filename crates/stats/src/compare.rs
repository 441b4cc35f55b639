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

/// Between which latencies a quantile lies, with 95 %: the outer ends of the buckets of two samples. `None` where that may
/// be beyond the last one.
pub fn interval(histogram: &Histogram, q: f64) -> Option<(Ns, Ns)> {
    let n = histogram.count() as f64;
    let spread = quantile(0.975) * (n * q * (1.0 - q)).sqrt();
    let (low, high) = ((n * q - spread).floor(), (n * q + spread).ceil() + 1.0);
    let ends = || Some((histogram.ranked(low as u64)?.least, histogram.ranked(high as u64)?.most));
    (low >= 1.0 && high <= n).then(ends).flatten()
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
    /// As many samples of both together are beyond the threshold, or more where the buckets are wide.
    const BEYOND: u64 = 50;
    /// The threshold is this quantile of both together at least.
    const LOWEST: f64 = 0.9;

    /// Beyond the highest quantile of both together that has some 50 samples beyond, from the 90th percentile on.
    /// Samples beyond the buckets of one of them count as well: the threshold is one that both buckets have.
    /// `None` with too few samples, or too few in buckets.
    pub fn of(before: &Histogram, after: &Histogram) -> Option<Tails> {
        let mut both = before.clone();
        both.merge(after);
        let share = 1.0 - Tails::BEYOND as f64 / both.count() as f64;
        if share < Tails::LOWEST || before.count() == 0 || after.count() == 0 {
            return None;
        }
        let known = [before, after].into_iter().filter(|one| one.overflow() > 0).map(Histogram::limit).min();
        let highest = known.map_or(Ns(i64::MAX), |limit| Ns(limit.0 - 1));
        let wanted = both.percentile_bounds(share)?.most.min(highest);
        let threshold = shared_end(before, after, wanted)?;
        let (a, b) = (before.beyond(threshold), after.beyond(threshold));
        let share_of_after = after.count() as f64 / both.count() as f64;
        (a + b > 0).then(|| Tails { threshold, before: a, after: b, p: uneven(b, a + b, share_of_after) })
    }

    /// So many samples of each are needed at least.
    pub fn needed() -> u64 {
        (Tails::BEYOND as f64 / (1.0 - Tails::LOWEST) / 2.0).round() as u64
    }
}

/// The highest latency up to `wanted` that lies inside no bucket of either: what is beyond it can be counted exactly.
/// `None` where a bucket of all samples covers it.
fn shared_end(before: &Histogram, after: &Histogram, mut wanted: Ns) -> Option<Ns> {
    let inside = |one: &Histogram, at: Ns| {
        let bucket = one.buckets().get(one.buckets().partition_point(|bucket| bucket.upto < at))?;
        (bucket.from <= at && at < bucket.upto).then_some(Ns(bucket.from.0 - 1))
    };
    while let Some(lower) = inside(before, wanted).or_else(|| inside(after, wanted)) {
        wanted = lower;
    }
    (wanted >= Ns::ZERO).then_some(wanted)
}

/// How many times as many samples, divided as these `a` of `n` and `b` of `m` are, show with a doubt of `p` that the shares
/// differ; `None`: they do not differ, or not with as many as can be measured.
pub fn times_as_many(a: u64, n: u64, b: u64, m: u64, p: f64) -> Option<f64> {
    let share = m as f64 / (n as f64 + m as f64);
    let shows = |times: f64| {
        let (a, b) = ((a as f64 * times).round() as u64, (b as f64 * times).round() as u64);
        uneven(b, a.saturating_add(b), share) < p
    };
    if a as f64 * m as f64 == b as f64 * n as f64 {
        return None;
    }
    // In steps of a tenth: what is counted in whole samples is no smoother.
    let mut times = 1.0;
    while !shows(times) {
        times *= 1.1;
        if times > 1e6 {
            return None;
        }
    }
    Some(times)
}

/// How likely a binomial count is as unlikely as `k` of `n`, or more.
pub(crate) fn uneven(k: u64, n: u64, p: f64) -> f64 {
    // Of so many the binomial distribution is a normal one, and its terms are too small to be summed up.
    const NORMAL_FROM: f64 = 1e6;
    let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
    if variance > NORMAL_FROM {
        return two_sided((k as f64 - mean) / variance.sqrt());
    }
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
    fn equal_shares_of_very_many_samples_are_no_difference() {
        assert_eq!(uneven(100_000_000, 200_000_000, 0.5), 1.0);
        assert!(uneven(100_001_000, 200_000_000, 0.5) > 0.5);
        assert!(uneven(100_100_000, 200_000_000, 0.5) < 1e-6);
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

    #[test]
    fn wide_buckets_beside_narrow_ones_are_counted_alike() {
        use crate::{Bucket, Exact};
        let narrow: Vec<Ns> = (0..20_000).map(|at| Ns(at % 2_000 * 20)).collect();
        let coarse = |width: i64| {
            let of = |from: i64| {
                let count = narrow.iter().filter(|ns| (from..from + width).contains(&ns.0)).count() as u64;
                Bucket { from: Ns(from), upto: Ns(from + width - 1), count }
            };
            let exact = Exact { overflow: 0, sum: 0, min: Ns(0), max: Ns(39_980) };
            Histogram::new(
                (0..).map(|at| of(at * width)).take_while(|bucket| bucket.from < Ns(40_000)),
                exact,
            )
        };
        let tails = Tails::of(&narrow.iter().copied().collect(), &coarse(10_000)).expect("samples");
        assert_eq!((tails.threshold, tails.before, tails.after), (Ns(29_999), 5_000, 5_000));
        // Of samples beyond the scale only the number is known: the threshold lies below them.
        let cut = Histogram::new(
            coarse(1_000).buckets().iter().copied().filter(|bucket| bucket.from < Ns(20_000)),
            Exact { overflow: 10_000, sum: 0, min: Ns(0), max: Ns(39_980) },
        );
        let tails = Tails::of(&coarse(1_000), &cut).expect("samples");
        assert_eq!((tails.threshold, tails.before, tails.after), (Ns(19_999), 10_000, 10_000));
    }

    #[test]
    fn how_many_more_samples_show_a_difference() {
        // None and one: eight times as many are as unlikely as 2 * 0.5^8.
        let times = times_as_many(0, 10_000, 1, 10_000, 0.01).expect("a number");
        assert!((7.5..9.0).contains(&times), "{times}");
        assert_eq!(times_as_many(5, 1_000, 10, 2_000, 0.01), None);
        assert_eq!(times_as_many(5, 1_000, 50, 1_000, 0.01), Some(1.0));
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
