//! A thread's samples in classes of a microsecond.

use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_stats::Histogram;

/// Later samples are beyond the last class: a tenth of a second, which is a line each in a histogram.
pub(super) const MOST: u64 = 100_000;

/// One thread's.
pub(super) struct Classes {
    /// The class and how many samples it has, ascending; none is empty.
    pub(super) counts: BTreeMap<u64, u64>,
    /// Samples beyond the last class.
    pub(super) overflow: u64,
}

impl Classes {
    pub(super) fn of(histogram: &Histogram) -> Classes {
        let max = histogram.max().unwrap_or_default();
        let mut classes = Classes { counts: BTreeMap::new(), overflow: histogram.overflow() };
        for bucket in histogram.buckets() {
            // The last bucket may reach beyond the largest sample.
            match us(bucket.upto.min(max).max(bucket.from)) {
                class if class < MOST => *classes.counts.entry(class).or_default() += bucket.count,
                _ => classes.overflow += bucket.count,
            }
        }
        classes
    }

    /// How many samples are in a class.
    pub(super) fn count(&self, class: u64) -> u64 {
        self.counts.get(&class).copied().unwrap_or(0)
    }

    /// Samples in all classes.
    pub(super) fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The first class after the last that has a sample.
    pub(super) fn end(&self) -> u64 {
        self.counts.last_key_value().map_or(0, |(class, _)| class + 1)
    }
}

/// Whole microseconds, as cyclictest counts them.
pub(super) fn us(latency: Ns) -> u64 {
    latency.0.max(0).unsigned_abs() / 1_000
}
