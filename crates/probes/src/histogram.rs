//! The live histogram: a measuring thread adds to it with plain atomic stores, and anyone may read it meanwhile.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use whylate_base::Ns;
use whylate_stats::{Bucket, Exact, Histogram, MeasuredLayout};

/// One thread writes, any may take a [`Histogram`] of it.
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
            counts: (0..MeasuredLayout::BUCKETS).map(|_| AtomicU64::new(0)).collect(),
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
        let latency = latency.max(Ns::ZERO);
        let bucket = MeasuredLayout::bucket_of(latency).and_then(|bucket| self.counts.get(bucket));
        let counter = bucket.unwrap_or(&self.overflow);
        counter.store(counter.load(Relaxed) + 1, Relaxed);
        self.sum.store(self.sum.load(Relaxed).saturating_add(latency.0 as u64), Relaxed);
        if latency.0 < self.min.load(Relaxed) {
            self.min.store(latency.0, Relaxed);
        }
        if latency.0 > self.max.load(Relaxed) {
            self.max.store(latency.0, Relaxed);
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
        if self.count.load(Relaxed) == 0 {
            return Histogram::default();
        }
        let counts = self.counts.iter().map(|count| count.load(Relaxed)).enumerate();
        let buckets = counts.map(|(at, count)| Bucket {
            from: MeasuredLayout::lower(at),
            upto: MeasuredLayout::upper(at),
            count,
        });
        let exact = Exact {
            overflow: self.overflow.load(Relaxed),
            sum: self.sum.load(Relaxed),
            min: Ns(self.min.load(Relaxed)),
            max: Ns(self.max.load(Relaxed)),
        };
        Histogram::new(buckets, exact).with_limit(MeasuredLayout::LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reset_forgets_everything() {
        let live = LiveHistogram::new();
        live.record(Ns(7));
        live.reset();
        assert_eq!(live.snapshot(), Histogram::default());
        live.record(Ns(9));
        assert_eq!(live.snapshot(), [Ns(9)].into_iter().collect());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn what_is_recorded_live_is_what_was_measured(
            samples in prop::collection::vec(prop_oneof![-10i64..5_000, 0i64..20_000_000_000], 1..300),
        ) {
            let live = LiveHistogram::new();
            samples.iter().for_each(|&sample| live.record(Ns(sample)));
            prop_assert_eq!(live.snapshot(), samples.into_iter().map(Ns).collect());
        }
    }
}
