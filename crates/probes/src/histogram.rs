//! A latency histogram of fixed size: a measuring thread adds to it with plain atomic
//! stores, and anyone may read it meanwhile.
//!
//! Buckets are log-linear: exact below 2 048 ns, then 1 024 buckets to each doubling, so a
//! percentile is at most 0.1 % too high. Minimum, maximum and mean are exact.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use whylate_base::Ns;

/// Buckets to each doubling: `1 << SUB_BITS`.
const SUB_BITS: u32 = 10;
/// Values from here on (17.2 s) are counted as overflow; the maximum stays exact.
const LIMIT: u64 = 1 << 34;
const BUCKETS: usize = index(LIMIT - 1) + 1;

const fn index(value: u64) -> usize {
    let high = u64::BITS - 1 - (value | 1).leading_zeros();
    let shift = high.saturating_sub(SUB_BITS);
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// The largest value of a bucket.
fn upper(index: usize) -> u64 {
    let shift = (index >> SUB_BITS).saturating_sub(1) as u32;
    let value = (index - ((shift as usize) << SUB_BITS)) as u64;
    (value << shift) + (1 << shift) - 1
}

/// The live histogram: one thread writes, any may take a [`Histogram`] of it.
pub(crate) struct LiveHistogram {
    counts: Box<[AtomicU64]>,
    overflow: AtomicU64,
    count: AtomicU64,
    sum: AtomicU64,
    min: AtomicI64,
    max: AtomicI64,
}

impl LiveHistogram {
    pub(crate) fn new() -> Self {
        LiveHistogram {
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            overflow: AtomicU64::new(0),
            count: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            min: AtomicI64::new(i64::MAX),
            max: AtomicI64::new(0),
        }
    }

    /// Adds a sample; a negative one counts as zero. Only one thread may record: the
    /// counters are read and stored without a locked instruction.
    pub(crate) fn record(&self, latency: Ns) {
        let latency = latency.0.max(0);
        let value = latency as u64;
        let counter = match value < LIMIT {
            true => self.counts.get(index(value)).unwrap_or(&self.overflow),
            false => &self.overflow,
        };
        counter.store(counter.load(Relaxed) + 1, Relaxed);
        self.sum.store(self.sum.load(Relaxed).saturating_add(value), Relaxed);
        if latency < self.min.load(Relaxed) {
            self.min.store(latency, Relaxed);
        }
        if latency > self.max.load(Relaxed) {
            self.max.store(latency, Relaxed);
        }
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
    }

    /// Empties it, and by that touches every page of it.
    pub(crate) fn reset(&self) {
        for count in &self.counts {
            count.store(0, Relaxed);
        }
        self.overflow.store(0, Relaxed);
        self.count.store(0, Relaxed);
        self.sum.store(0, Relaxed);
        self.min.store(i64::MAX, Relaxed);
        self.max.store(0, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Histogram {
        Histogram {
            buckets: self
                .counts
                .iter()
                .enumerate()
                .filter_map(|(index, count)| {
                    let count = count.load(Relaxed);
                    (count > 0).then(|| Bucket { upto: Ns(upper(index) as i64), count })
                })
                .collect(),
            overflow: self.overflow.load(Relaxed),
            count: self.count.load(Relaxed),
            sum: self.sum.load(Relaxed),
            min: Ns(self.min.load(Relaxed)),
            max: Ns(self.max.load(Relaxed)),
        }
    }
}

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The largest latency that belongs to it.
    pub upto: Ns,
    /// How many samples it holds.
    pub count: u64,
}

/// A distribution of latencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: Vec<Bucket>,
    overflow: u64,
    count: u64,
    sum: u64,
    min: Ns,
    max: Ns,
}

impl Histogram {
    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least, exact; `None` without samples.
    pub fn min(&self) -> Option<Ns> {
        (self.count > 0).then_some(self.min)
    }

    /// The most, exact; `None` without samples.
    pub fn max(&self) -> Option<Ns> {
        (self.count > 0).then_some(self.max)
    }

    /// The mean, exact to the nanosecond; `None` without samples.
    pub fn mean(&self) -> Option<Ns> {
        self.sum.checked_div(self.count).map(|mean| Ns(i64::try_from(mean).unwrap_or(i64::MAX)))
    }

    /// The latency that the share `q` (0 to 1) of the samples did not exceed: the nearest-rank
    /// percentile, rounded up by at most 0.1 %, never above the maximum. `None` without samples.
    pub fn percentile(&self, q: f64) -> Option<Ns> {
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bucket = self.buckets.iter().find(|bucket| {
            seen += bucket.count;
            seen >= rank
        });
        // A rank beyond the buckets lies in the overflow, of which only the maximum is known.
        (self.count > 0).then(|| bucket.map_or(self.max, |bucket| bucket.upto.min(self.max)))
    }

    /// The [`percentile`](Self::percentile), where there are samples beyond it: 100 are needed
    /// for the 99th, 10,000 for the 99.99th. With fewer it would be the maximum by another name.
    pub fn tail(&self, q: f64) -> Option<Ns> {
        ((q * self.count as f64).ceil() < self.count as f64).then(|| self.percentile(q)).flatten()
    }

    /// Samples too large for any bucket (over 17 s): in count, mean and maximum only.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Adds another distribution's samples: all CPUs together.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        self.buckets.extend_from_slice(&other.buckets);
        self.buckets.sort_by_key(|bucket| bucket.upto);
        self.buckets.dedup_by(|later, earlier| {
            let same = later.upto == earlier.upto;
            if same {
                earlier.count += later.count;
            }
            same
        });
        self.overflow += other.overflow;
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// The distribution of latencies measured elsewhere; a negative one counts as zero.
impl FromIterator<Ns> for Histogram {
    fn from_iter<I: IntoIterator<Item = Ns>>(latencies: I) -> Self {
        let live = LiveHistogram::new();
        latencies.into_iter().for_each(|latency| live.record(latency));
        live.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(samples: &[i64]) -> Histogram {
        let live = LiveHistogram::new();
        samples.iter().for_each(|&sample| live.record(Ns(sample)));
        live.snapshot()
    }

    #[test]
    fn every_bucket_ends_where_the_next_begins() {
        for i in 0..BUCKETS {
            assert_eq!(index(upper(i)), i);
            assert_eq!(index(upper(i) + 1), i + 1);
        }
        assert_eq!(upper(BUCKETS - 1), LIMIT - 1);
    }

    #[test]
    fn nothing_measured_has_no_numbers() {
        let empty = histogram(&[]);
        assert_eq!((empty.min(), empty.max(), empty.mean(), empty.percentile(0.5)), (None, None, None, None));
    }

    #[test]
    fn a_tail_needs_samples_beyond_it() {
        for (q, enough) in [(0.5, 2), (0.99, 100), (0.999, 1_000), (0.9999, 10_000)] {
            let of = |count: i64| histogram(&(1..=count).collect::<Vec<_>>());
            assert_eq!(of(enough - 1).tail(q), None, "{q} of {}", enough - 1);
            assert_eq!(of(enough).tail(q), of(enough).percentile(q), "{q} of {enough}");
            assert!(of(enough).tail(q).is_some(), "{q} of {enough}");
        }
        assert_eq!(histogram(&[]).tail(0.99), None);
    }

    #[test]
    fn what_is_too_long_for_a_bucket_is_counted_and_exact_as_maximum() {
        let long = LIMIT as i64 + 5;
        let measured = histogram(&[1_000, long, 2_000]);
        assert_eq!((measured.count(), measured.overflow()), (3, 1));
        assert_eq!(measured.max(), Some(Ns(long)));
        assert_eq!(measured.percentile(1.0), Some(Ns(long)));
        assert_eq!(measured.percentile(0.5), Some(Ns(2_000)));
    }

    #[test]
    fn a_reset_forgets_everything() {
        let live = LiveHistogram::new();
        live.record(Ns(7));
        live.reset();
        live.record(Ns(9));
        assert_eq!(live.snapshot(), histogram(&[9]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn percentiles_follow_the_sorted_samples(
            mut samples in prop::collection::vec(prop_oneof![0i64..5_000, 0i64..20_000_000_000], 1..400),
            q in 0.0f64..=1.0,
        ) {
            let measured = histogram(&samples);
            samples.sort_unstable();
            let rank = ((q * samples.len() as f64).ceil() as usize).clamp(1, samples.len());
            let exact = samples[rank - 1];
            let got = measured.percentile(q).expect("samples").0;
            prop_assert!(got >= exact, "{got} < {exact}");
            let slack = if exact < LIMIT as i64 { exact / 1_000 + 1 } else { i64::MAX - exact };
            prop_assert!(got <= exact + slack, "{got} > {exact}");
            prop_assert_eq!(measured.min(), samples.first().map(|&s| Ns(s)));
            prop_assert_eq!(measured.max(), samples.last().map(|&s| Ns(s)));
            prop_assert_eq!(measured.mean(), Some(Ns(samples.iter().sum::<i64>() / samples.len() as i64)));
            let counted: u64 = measured.buckets().iter().map(|b| b.count).sum();
            prop_assert_eq!(counted + measured.overflow(), samples.len() as u64);
        }

        #[test]
        fn merging_is_measuring_together(
            a in prop::collection::vec(0i64..20_000_000_000, 0..100),
            b in prop::collection::vec(0i64..20_000_000_000, 0..100),
        ) {
            let mut merged = histogram(&a);
            merged.merge(&histogram(&b));
            let together = histogram(&[a, b].concat());
            if together.count() > 0 {
                prop_assert_eq!(merged, together);
            }
        }
    }
}
