//! A distribution that is counted for months: fixed memory, and a histogram at any time.

use whylate_base::Ns;
use whylate_stats::{Bucket, Exact, Histogram, Layout};

/// Within 1.6 %: 1800 buckets up to 17 s.
type WatchLayout = Layout<6>;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct LatencyCounts {
    buckets: Vec<u64>,
    exact: Exact,
    count: u64,
}

impl LatencyCounts {
    pub(super) fn record(&mut self, latency: Ns) {
        let latency = latency.max(Ns::ZERO);
        if self.count == 0 {
            (self.exact.min, self.exact.max) = (latency, latency);
        }
        self.count += 1;
        self.exact.min = self.exact.min.min(latency);
        self.exact.max = self.exact.max.max(latency);
        self.exact.sum = self.exact.sum.saturating_add(latency.0.unsigned_abs());
        match WatchLayout::bucket_of(latency) {
            Some(bucket) => {
                if bucket >= self.buckets.len() {
                    self.buckets.resize(bucket + 1, 0);
                }
                self.buckets[bucket] += 1;
            }
            None => self.exact.overflow += 1,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The upper end of the bucket that a share of all samples does not exceed.
    pub(super) fn percentile(&self, share: f64) -> Option<Ns> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        bucket.map(WatchLayout::upper)
    }

    pub(super) fn histogram(&self) -> Histogram {
        let bucket = |(at, &count): (usize, &u64)| Bucket {
            from: WatchLayout::lower(at),
            upto: WatchLayout::upper(at),
            count,
        };
        Histogram::new(self.buckets.iter().enumerate().map(bucket), self.exact).with_limit(WatchLayout::LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_what_was_counted() {
        let mut counts = LatencyCounts::default();
        for latency in [0, 5, 1_000_000, 1_000_001, 30_000_000_000] {
            counts.record(Ns(latency));
        }
        let histogram = counts.histogram();
        assert_eq!((histogram.count(), histogram.overflow()), (5, 1));
        assert_eq!((histogram.min(), histogram.max()), (Some(Ns(0)), Some(Ns::from_secs(30))));
        let p50 = counts.percentile(0.5).expect("samples");
        assert!(p50 >= Ns::from_ms(1) && p50.0 <= 1_016_000, "{p50}");
        assert_eq!(counts.percentile(1.0), None, "it is in no bucket");
    }
}
