//! Latencies, counted in buckets whose width grows with the latency.
//!
//! Buckets are log-linear: exact below 2 048 ns, then 1 024 buckets to each doubling, so a percentile is at most
//! 0.1 % too high. Minimum, maximum and mean are exact. A histogram that another program made keeps its own buckets.

use whylate_base::Ns;

/// The buckets everybody counts in.
pub mod layout {
    use whylate_base::Ns;

    /// Buckets to each doubling: `1 << SUB_BITS`.
    const SUB_BITS: u32 = 10;
    /// Latencies from here on (17.2 s) have no bucket.
    pub const LIMIT: Ns = Ns(1 << 34);
    /// How many buckets there are.
    pub const BUCKETS: usize = index(LIMIT.0 as u64 - 1) + 1;

    const fn index(value: u64) -> usize {
        let high = u64::BITS - 1 - (value | 1).leading_zeros();
        let shift = high.saturating_sub(SUB_BITS);
        ((shift as usize) << SUB_BITS) + (value >> shift) as usize
    }

    /// The bucket of a latency; a negative one counts as zero. `None` from [`LIMIT`] on.
    #[inline]
    pub fn bucket_of(latency: Ns) -> Option<usize> {
        (latency < LIMIT).then(|| index(latency.0.max(0) as u64))
    }

    /// The largest latency of a bucket.
    pub fn upper(bucket: usize) -> Ns {
        let shift = (bucket >> SUB_BITS).saturating_sub(1) as u32;
        let value = (bucket - ((shift as usize) << SUB_BITS)) as u64;
        Ns(((value << shift) + (1 << shift) - 1) as i64)
    }

    /// The smallest latency of a bucket.
    pub fn lower(bucket: usize) -> Ns {
        bucket.checked_sub(1).map_or(Ns::ZERO, |before| Ns(upper(before).0 + 1))
    }
}

/// A bucket that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest latency that belongs to it.
    pub from: Ns,
    /// The largest.
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

/// What is known of a distribution beside its buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exact {
    /// Samples that are in no bucket.
    pub overflow: u64,
    /// The sum of all samples, in nanoseconds.
    pub sum: u64,
    /// The least.
    pub min: Ns,
    /// The most.
    pub max: Ns,
}

impl Histogram {
    /// Of buckets in ascending order that do not overlap; empty ones are left out.
    pub fn new(buckets: impl IntoIterator<Item = Bucket>, exact: Exact) -> Histogram {
        let buckets: Vec<Bucket> = buckets.into_iter().filter(|bucket| bucket.count > 0).collect();
        // A file may say anything: counts saturate.
        let count = buckets.iter().map(|bucket| bucket.count).fold(exact.overflow, u64::saturating_add);
        Histogram { buckets, count, overflow: exact.overflow, sum: exact.sum, min: exact.min, max: exact.max }
    }

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

    /// The sum of all samples, in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The median; `None` also where it lies beyond the buckets, of which only the maximum is known.
    pub fn median(&self) -> Option<Ns> {
        let beyond = self.count.div_ceil(2) > self.count - self.overflow;
        self.percentile(0.5).filter(|_| !beyond)
    }

    /// The latency that the share `q` (0 to 1) of the samples did not exceed: the nearest-rank
    /// percentile, rounded up by at most a bucket's width, never above the maximum. `None` without samples.
    pub fn percentile(&self, q: f64) -> Option<Ns> {
        self.ranked((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64)
    }

    /// The sample of a rank, counted from 1 at the least; a rank beyond either end is that end's.
    pub fn ranked(&self, rank: u64) -> Option<Ns> {
        let rank = rank.clamp(1, self.count.max(1));
        let mut seen = 0;
        let bucket = self.buckets.iter().find(|bucket| {
            seen = bucket.count.saturating_add(seen);
            seen >= rank
        });
        // A rank beyond the buckets lies in the overflow, of which only the maximum is known.
        (self.count > 0).then(|| bucket.map_or(self.max, |bucket| bucket.upto.min(self.max)))
    }

    /// The [`percentile`](Self::percentile), where there are samples beyond it: 100 are needed
    /// for the 99th, 10,000 for the 99.99th. With fewer it would be the maximum by another name; and so it would be
    /// where the rank is that of a sample in no bucket.
    pub fn tail(&self, q: f64) -> Option<Ns> {
        let rank = (q * self.count as f64).ceil();
        (rank < self.count as f64 && rank <= (self.count - self.overflow) as f64)
            .then(|| self.percentile(q))
            .flatten()
    }

    /// How many samples are above a latency. Of a bucket that it lies in, all are counted but the latency is its last.
    pub fn beyond(&self, latency: Ns) -> u64 {
        let from = self.buckets.partition_point(|bucket| bucket.upto <= latency);
        let overflow = if self.max > latency { self.overflow } else { 0 };
        self.buckets[from..].iter().map(|bucket| bucket.count).fold(overflow, u64::saturating_add)
    }

    /// Samples too large for any bucket (over 17 s): in count, mean and maximum only.
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The buckets that are not empty, in ascending order.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Adds another distribution's samples: all CPUs together. Both should have the same buckets.
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
                earlier.count = earlier.count.saturating_add(later.count);
                earlier.from = earlier.from.min(later.from);
            }
            same
        });
        self.overflow = self.overflow.saturating_add(other.overflow);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Latencies measured elsewhere; a negative one counts as zero.
impl FromIterator<Ns> for Histogram {
    fn from_iter<I: IntoIterator<Item = Ns>>(latencies: I) -> Self {
        let mut counts = std::collections::BTreeMap::<usize, u64>::new();
        let mut exact = Exact { min: Ns(i64::MAX), ..Exact::default() };
        for latency in latencies {
            let latency = latency.max(Ns::ZERO);
            match layout::bucket_of(latency) {
                Some(bucket) => *counts.entry(bucket).or_default() += 1,
                None => exact.overflow += 1,
            }
            exact.sum = exact.sum.saturating_add(latency.0 as u64);
            (exact.min, exact.max) = (exact.min.min(latency), exact.max.max(latency));
        }
        let bucket = |(at, count)| Bucket { from: layout::lower(at), upto: layout::upper(at), count };
        Histogram::new(counts.into_iter().map(bucket), exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(samples: &[i64]) -> Histogram {
        samples.iter().map(|&sample| Ns(sample)).collect()
    }

    #[test]
    fn every_bucket_ends_where_the_next_begins() {
        for bucket in 0..layout::BUCKETS {
            assert_eq!(layout::bucket_of(layout::upper(bucket)), Some(bucket));
            assert_eq!(layout::bucket_of(layout::lower(bucket)), Some(bucket));
            let next = layout::bucket_of(Ns(layout::upper(bucket).0 + 1));
            assert_eq!(next, (bucket + 1 < layout::BUCKETS).then_some(bucket + 1));
        }
    }

    #[test]
    fn nothing_measured_has_no_numbers() {
        let empty = histogram(&[]);
        assert_eq!((empty.min(), empty.max(), empty.mean(), empty.percentile(0.5)), (None, None, None, None));
        assert_eq!(empty.beyond(Ns(0)), 0);
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
    fn absurd_counts_of_a_file_are_survived() {
        let bucket = |upto, count| Bucket { from: Ns(upto), upto: Ns(upto), count };
        let exact = Exact { overflow: u64::MAX, sum: u64::MAX, min: Ns(1), max: Ns(9) };
        let mut absurd = Histogram::new([bucket(1, u64::MAX), bucket(2, u64::MAX)], exact);
        absurd.merge(&absurd.clone());
        assert_eq!((absurd.count(), absurd.beyond(Ns(0)), absurd.min()), (u64::MAX, u64::MAX, Some(Ns(1))));
        assert_eq!((absurd.percentile(0.5), absurd.tail(0.99)), (Some(Ns(1)), None));
    }

    #[test]
    fn what_is_too_long_for_a_bucket_is_counted_and_exact_as_maximum() {
        let long = layout::LIMIT.0 + 5;
        let measured = histogram(&[1_000, long, 2_000]);
        assert_eq!((measured.count(), measured.overflow()), (3, 1));
        assert_eq!(measured.max(), Some(Ns(long)));
        assert_eq!(measured.percentile(1.0), Some(Ns(long)));
        assert_eq!((measured.percentile(0.5), measured.median()), (Some(Ns(2_000)), Some(Ns(2_000))));
        assert_eq!(histogram(&[1_000, long]).median(), Some(Ns(1_000)));
        assert_eq!(histogram(&[1_000, long, long]).median(), None, "all that is known is that it is long");
        assert_eq!(
            (measured.beyond(Ns(2_000)), measured.beyond(Ns(999)), measured.beyond(Ns(long))),
            (1, 3, 0)
        );
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
            let slack = if exact < layout::LIMIT.0 { exact / 1_000 + 1 } else { i64::MAX - exact };
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
