//! Two measurements of which only the number of samples, the least, the mean and the largest latency of each thread are known.
//!
//! Both tests ask how likely chance makes such a difference where nothing changed: each thread's samples are of the same
//! distribution in both runs, whatever that is, and independent of each other.

use crate::Histogram;
use crate::normal::binomial_at_most;
use whylate_base::Ns;

/// What is known of a thread in both runs: before and after.
pub type SummaryPair = (ThreadSummary, ThreadSummary);

/// What is known of a thread's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadSummary {
    /// How many.
    pub count: u64,
    /// No sample is below it.
    pub least: Ns,
    /// Between these is the mean; `None`: not known.
    pub mean: Option<(Ns, Ns)>,
    /// Between these is the largest.
    pub most: (Ns, Ns),
}

impl ThreadSummary {
    /// Of a thread's samples; `None` without any.
    pub fn of(histogram: &Histogram) -> Option<ThreadSummary> {
        let most = histogram.max_bounds()?;
        Some(ThreadSummary {
            count: histogram.count(),
            least: histogram.min_bounds().map_or(Ns::ZERO, |bounds| bounds.least),
            mean: histogram.mean_bounds().map(|bounds| (bounds.least, bounds.most)),
            most: (most.least, most.most),
        })
    }
}

/// How far the mean of all threads moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanShift {
    /// It was, as far as it is known; each thread counts by the samples of both of its runs.
    pub before: Ns,
    /// It is.
    pub after: Ns,
    /// The least that it moved by, with 95 %: positive is later.
    pub least: Ns,
    /// The most that it moved by.
    pub most: Ns,
    /// How likely chance moves it as far: at most so.
    pub p: f64,
}

impl MeanShift {
    /// What chance does more often than this is not in the interval.
    const DOUBT: f64 = 0.05;

    /// Of the threads of both runs; `None` where a mean is not known.
    ///
    /// Hoeffding's inequality for the difference of two means (Journal of the American Statistical Association 58, 1963, 2.6 and
    /// theorem 2): it needs no more than bounds that all samples keep. These are the least and the largest sample of both runs
    /// together. Given these two samples, all others are independent draws between them, so the inequality holds for the others
    /// exactly; the two are left out by what they can move a mean by.
    pub fn of(threads: &[SummaryPair]) -> Option<MeanShift> {
        let weight = |(a, b): &SummaryPair| {
            let (a, b) = (a.count as f64, b.count as f64);
            if a + b > 0.0 { a * b / (a + b) } else { 0.0 }
        };
        let all: f64 = threads.iter().map(weight).sum();
        if all <= 0.0 {
            return None;
        }
        // Each bound of both means, the variance that they may have at most, and what two samples may move them by.
        let (mut before, mut after) = ((0.0, 0.0), (0.0, 0.0));
        let (mut spread, mut slack) = (0.0, 0.0);
        for pair in threads {
            let ((a, b), share) = (pair, weight(pair) / all);
            let (of_a, of_b) = (a.mean?, b.mean?);
            before = (before.0 + share * of_a.0.0 as f64, before.1 + share * of_a.1.0 as f64);
            after = (after.0 + share * of_b.0.0 as f64, after.1 + share * of_b.1.0 as f64);
            let range = (a.most.1.max(b.most.1) - a.least.min(b.least)).0.max(0) as f64;
            let each = 1.0 / a.count as f64 + 1.0 / b.count as f64;
            spread += share * share * range * range * each;
            slack += share * range * 2.0 * each;
        }
        let (low, high) = (after.0 - before.1, after.1 - before.0);
        let moved = (low.max(-high) - slack).max(0.0);
        let p = match (moved > 0.0, spread > 0.0) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => (2.0 * (-2.0 * moved * moved / spread).exp()).min(1.0),
        };
        let chance = (spread * (2.0 / MeanShift::DOUBT).ln() / 2.0).sqrt() + slack;
        let ns = |value: f64| Ns(value.round() as i64);
        Some(MeanShift {
            before: ns(before.0),
            after: ns(after.0),
            least: ns((low - chance).floor()),
            most: ns((high + chance).ceil()),
            p,
        })
    }

    /// True where chance is no explanation: the interval does not hold 0.
    pub fn is_shown(&self) -> bool {
        self.least > Ns::ZERO || self.most < Ns::ZERO
    }
}

/// Whose largest latencies are the larger, thread by thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestOrder {
    /// Which test.
    pub test: LargestTest,
    /// True where those of the second run are the larger.
    pub is_later: bool,
    /// How likely chance orders them so, where threads are late independently of each other: at most so.
    pub p: f64,
}

/// How the largest latencies of few and of many threads are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LargestTest {
    /// Every one of a run is above every one of the other (the exact test of Mann and Whitney, at its end).
    Apart {
        /// So many threads have each run.
        threads: u64,
    },
    /// So many are larger (the sign test).
    Signs {
        /// Threads whose largest latency is larger in this run than in the other.
        larger: u64,
        /// All threads.
        threads: u64,
    },
    /// The largest of all is in the shorter run.
    Shorter {
        /// The share of the samples of both runs that the shorter one has.
        share: f64,
    },
}

impl LargestOrder {
    /// Of fewer threads even the clearest order is no better than one chance in 20, twice.
    pub const NEEDED: usize = 5;
    /// From so many threads on the signs alone may show a difference.
    const SIGNS: usize = 8;
    /// Of runs whose lengths differ by more the threads are not compared each with its own.
    const LONGER: f64 = 10.0;

    /// Of the largest latencies of each thread, where those count as different of which `is_larger` is true. `None` where no order
    /// shows. Which test it is depends on the number of threads and the lengths of the runs alone: with too few threads, or lengths
    /// that are too different, it is the one of the largest of all.
    ///
    /// The longer run has more occasions for a large one: of `n` and `m` samples of one distribution the largest of all is one of
    /// the `m` with the probability `m / (n + m)`. That the threads have different distributions makes it only less likely that
    /// all of one run are above all of the other.
    pub fn of(threads: &[SummaryPair], is_larger: impl Fn(Ns, Ns) -> bool) -> Option<LargestOrder> {
        let ratio = |(a, b): &SummaryPair| b.count as f64 / a.count.max(1) as f64;
        let (least, most) = threads
            .iter()
            .map(ratio)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
        if threads.len() < LargestOrder::NEEDED
            || least * LargestOrder::LONGER < 1.0
            || most > LargestOrder::LONGER
        {
            return LargestOrder::of_all(threads, (least, most), is_larger);
        }
        let above = |smaller: Ns, larger: Ns| larger > smaller && is_larger(smaller, larger);
        let later = threads.iter().filter(|(a, b)| above(a.most.1, b.most.0)).count() as u64;
        let earlier = threads.iter().filter(|(a, b)| above(b.most.1, a.most.0)).count() as u64;
        let (is_later, larger) = (later >= earlier, later.max(earlier));
        let longer = if is_later { most } else { 1.0 / least };
        let count = threads.len() as u64;
        if threads.len() >= LargestOrder::SIGNS {
            let share = longer / (1.0 + longer);
            let fewer = larger.checked_sub(1).map_or(0.0, |fewer| binomial_at_most(fewer, count, share));
            let test = LargestTest::Signs { larger, threads: count };
            return Some(LargestOrder { test, is_later, p: (2.0 * (1.0 - fewer)).min(1.0) });
        }
        let pairs =
            || threads.iter().map(|(a, b)| if is_later { (a.most, b.most) } else { (b.most, a.most) });
        let (top, bottom) = (pairs().map(|pair| pair.0.1).max()?, pairs().map(|pair| pair.1.0).min()?);
        let p = 2.0 * apart(count, longer);
        above(top, bottom).then_some(LargestOrder {
            test: LargestTest::Apart { threads: count },
            is_later,
            p: p.min(1.0),
        })
    }

    /// Of the largest of all threads, with how many times as many samples the second run has: where nothing changed it lies in a
    /// run with the probability that is the run's share of the samples. That holds however the threads depend on each other, for a
    /// single event that delayed all of them too, since no more than its time is taken to be random. `None` where it is in
    /// the longer run: there it shows nothing. Which run is the longer does not depend on the latencies, so the test has one side.
    fn of_all(
        threads: &[SummaryPair],
        (least, most): (f64, f64),
        is_larger: impl Fn(Ns, Ns) -> bool,
    ) -> Option<LargestOrder> {
        let largest = |of: fn(&SummaryPair) -> (Ns, Ns)| {
            let each = || threads.iter().map(of);
            each().map(|most| most.0).max().zip(each().map(|most| most.1).max())
        };
        let (a, b) = (largest(|pair| pair.0.most)?, largest(|pair| pair.1.most)?);
        let above = |lower: (Ns, Ns), upper: (Ns, Ns)| upper.0 > lower.1 && is_larger(lower.1, upper.0);
        let (is_later, share) = match (above(a, b), above(b, a)) {
            (true, _) => (true, most / (1.0 + most)),
            (_, true) => (false, 1.0 / (1.0 + least)),
            _ => return None,
        };
        (share < 0.5).then_some(LargestOrder { test: LargestTest::Shorter { share }, is_later, p: share })
    }
}

/// How likely the largest of `k` threads are all above those of as many others of the same distribution, if they have `longer`
/// times as many samples: the integral of `(1 - u^longer)^k` over the distribution of the largest `u` of the others.
fn apart(k: u64, longer: f64) -> f64 {
    (1..=k).map(|at| at as f64 / (at as f64 + k as f64 / longer)).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(count: u64, least: i64, mean: i64, most: i64) -> ThreadSummary {
        let us = |us: i64| (Ns(us * 1_000), Ns(us * 1_000 + 999));
        ThreadSummary { count, least: Ns(least * 1_000), mean: Some(us(mean)), most: us(most) }
    }

    fn order(before: &[i64], after: &[i64], longer: u64) -> Option<LargestOrder> {
        let of = |(a, b): (&i64, &i64)| (summary(1_000, 1, 2, *a), summary(1_000 * longer, 1, 2, *b));
        LargestOrder::of(&before.iter().zip(after).map(of).collect::<Vec<_>>(), |a, b| b > a)
    }

    #[test]
    fn a_mean_moves_by_more_than_its_samples_range_allows() {
        let many = MeanShift::of(&[(summary(3_600_000, 1, 5, 65), summary(600_000, 1, 28, 1_481))]);
        let many = many.expect("means");
        assert!(many.is_shown() && many.p < 1e-6, "{many:?}");
        assert!(many.least > Ns::from_us(19) && many.most < Ns::from_us(27), "{many:?}");
        let few = MeanShift::of(&[(summary(3_600, 1, 5, 65), summary(600, 1, 28, 1_481))]).expect("means");
        assert!(!few.is_shown() && few.p > 0.05, "{few:?}");
        // Both were rounded down: how far they are apart is not known.
        let same = MeanShift::of(&[(summary(1 << 40, 1, 5, 9), summary(1 << 40, 1, 5, 9))]).expect("means");
        assert!(!same.is_shown() && same.p == 1.0 && same.most >= Ns(999), "{same:?}");
        let unknown = ThreadSummary { mean: None, ..summary(100, 1, 5, 9) };
        assert_eq!(MeanShift::of(&[(unknown, summary(100, 1, 5, 9))]), None);
        assert_eq!(MeanShift::of(&[]), None);
    }

    /// Two threads, of which the second run has other shares: no thread changed.
    #[test]
    fn another_mix_of_the_threads_is_no_shift() {
        let (quick, slow) = (|count| summary(count, 1, 5, 20), |count| summary(count, 80, 95, 120));
        let threads = [(quick(1_000_000), quick(4_000_000)), (slow(4_000_000), slow(1_000_000))];
        assert!(!MeanShift::of(&threads).expect("means").is_shown());
    }

    #[test]
    fn the_order_of_few_threads_is_a_rank_test() {
        let apart = order(&[30, 40, 31, 47, 35], &[90, 95, 99, 80, 81], 1).expect("an order");
        // Scipy: mannwhitneyu([1..5], [6..10], method="exact").pvalue = 0.007936507936507936
        assert_eq!((apart.test, apart.is_later), (LargestTest::Apart { threads: 5 }, true));
        assert!((apart.p - 2.0 / 252.0).abs() < 1e-12, "{apart:?}");
        let back = order(&[90, 95, 99, 80, 81], &[30, 40, 31, 47, 35], 1).expect("an order");
        assert_eq!((back.is_later, back.p), (false, apart.p));
        // The second run is longer: larger ones are no surprise, and smaller ones are a greater one.
        assert!(order(&[30, 40, 31, 47, 35], &[90, 95, 99, 80, 81], 5).is_some_and(|order| order.p > 0.2));
        assert!(order(&[90, 95, 99, 80, 81], &[30, 40, 31, 47, 35], 5).is_some_and(|order| order.p < 1e-4));
        assert_eq!(order(&[30, 40, 31, 47, 35], &[90, 95, 99, 80, 46], 1), None);
        assert_eq!(order(&[30, 40, 31, 47, 35], &[90, 95, 99, 80, 81], 11), None, "in the longer run");
        assert_eq!(order(&[30, 40, 31, 47], &[90, 95, 99, 80], 1), None, "too few");
    }

    #[test]
    fn the_largest_of_all_in_the_shorter_run_is_as_rare_as_the_run_is_short() {
        for (before, after, longer) in [
            (&[9_000, 40, 8_800][..], &[60, 70, 65][..], 49),
            (&[9_000], &[60], 49),
            (&[900; 6], &[60; 6], 49),
            (&[90, 95, 99, 80], &[30, 40, 31, 47], 2),
        ] {
            let own = order(before, after, longer).expect("an order");
            let share = 1.0 / (1.0 + longer as f64);
            assert_eq!((own.test, own.is_later), (LargestTest::Shorter { share }, false));
            assert!((own.p - share).abs() < 1e-12, "{own:?}");
        }
        assert_eq!(order(&[60, 70], &[9_000, 40], 49), None, "the longer run has more occasions");
        assert_eq!(order(&[70, 30], &[60, 70], 49), None, "they are equal");
    }

    #[test]
    fn the_order_of_many_threads_is_a_sign_test() {
        let signs = order(&[30; 10], &[31, 32, 33, 34, 35, 36, 37, 38, 39, 29], 1).expect("an order");
        // Scipy: binomtest(9, 10).pvalue = 0.021484375
        assert_eq!(signs.test, LargestTest::Signs { larger: 9, threads: 10 });
        assert!((signs.p - 0.021_484_375).abs() < 1e-9, "{signs:?}");
        // One that is the same is not larger.
        let tied = order(&[30; 8], &[31, 31, 31, 31, 31, 31, 31, 30], 1).expect("an order");
        assert_eq!(tied.test, LargestTest::Signs { larger: 7, threads: 8 });
        assert!(tied.p > 0.05, "{tied:?}");
        assert!(order(&[30; 8], &[31; 8], 6).is_some_and(|order| order.p > 0.5));
        assert!(order(&[30; 8], &[30; 8], 1).is_some_and(|order| order.p == 1.0));
    }

    /// The same threads twice, each with a distribution of its own, and the second run `longer` times as long.
    fn unchanged(random: &mut fastrand::Rng, threads: usize, longer: u64) -> Vec<SummaryPair> {
        let summary = |random: &mut fastrand::Rng, count: u64, scale: f64| {
            let mut all = Histogram::default();
            for _ in 0..count {
                // Heavy of tail, and in whole microseconds.
                let us = (3.0 + scale * random.f64().max(1e-9).powf(-0.6)).floor();
                all.merge(&[Ns(us as i64 * 1_000)].into_iter().collect());
            }
            let us = |at: Ns| Ns(at.0 / 1_000 * 1_000);
            let (mean, most) = (us(all.mean().unwrap_or_default()), all.max().unwrap_or_default());
            ThreadSummary {
                count,
                least: all.min().unwrap_or_default(),
                mean: Some((mean, mean + Ns(999))),
                most: (most, most + Ns(999)),
            }
        };
        (0..threads)
            .map(|_| {
                let scale = 1.0 + 9.0 * random.f64();
                (summary(random, 60, scale), summary(random, 60 * longer, scale))
            })
            .collect()
    }

    /// Where nothing changed, no test shows a difference more often than its level.
    #[test]
    fn what_did_not_change_is_rarely_called_different() {
        const PAIRS: usize = 2_000;
        let mut random = fastrand::Rng::with_seed(11);
        for (threads, longer) in [(5, 1), (8, 1), (6, 3), (3, 24), (6, 24)] {
            let (mut means, mut orders) = (0, 0);
            for _ in 0..PAIRS {
                let pairs = unchanged(&mut random, threads, longer);
                means += usize::from(MeanShift::of(&pairs).is_some_and(|shift| shift.p < 0.05));
                orders +=
                    usize::from(LargestOrder::of(&pairs, |a, b| b > a).is_some_and(|order| order.p < 0.05));
            }
            // 100 of 2,000 are the level.
            assert!(means <= 100 && orders <= 100, "{threads} threads: {means} and {orders} of {PAIRS}");
        }
    }

    proptest! {
        #[test]
        fn swapping_turns_everything_round(seed in 0u64..100_000) {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut thread = || {
                let least = random.i64(0..20);
                summary(random.u64(1_000..9_000), least, least + random.i64(0..20), least + 20 + random.i64(0..200))
            };
            let there: Vec<SummaryPair> = (0..6).map(|_| (thread(), thread())).collect();
            let back: Vec<SummaryPair> = there.iter().map(|(a, b)| (*b, *a)).collect();
            let (one, other) = (MeanShift::of(&there).expect("means"), MeanShift::of(&back).expect("means"));
            prop_assert_eq!((one.least, one.p), (Ns(-other.most.0), other.p));
            let order = |pairs: &[SummaryPair]| LargestOrder::of(pairs, |a, b| b > a);
            prop_assert_eq!(order(&there).map(|order| order.test), order(&back).map(|order| order.test));
        }
    }
}
