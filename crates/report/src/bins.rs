//! A histogram scaled to a number of columns, on a logarithmic axis of latency.

use whylate_base::Ns;
use whylate_stats::Histogram;

/// A logarithmic axis of latencies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogAxis {
    from: f64,
    to: f64,
}

impl LogAxis {
    /// From the least to the most of all the histograms; at least a factor of two, so that
    /// a single sample is not all there is to see. `None` without samples.
    pub(crate) fn of<'a>(histograms: impl Iterator<Item = &'a Histogram> + Clone) -> Option<LogAxis> {
        let least = histograms.clone().filter_map(Histogram::min).min()?;
        let most = histograms.filter_map(Histogram::max).max()?;
        let from = (least.0.max(1) as f64).ln();
        Some(LogAxis { from, to: (most.0.max(1) as f64).ln().max(from + std::f64::consts::LN_2) })
    }

    /// Where a latency lies, 0 to 1.
    pub(crate) fn at(&self, latency: Ns) -> f64 {
        (((latency.0.max(1) as f64).ln() - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    /// The latency at a place 0 to 1.
    pub(crate) fn latency(&self, at: f64) -> Ns {
        Ns((self.from + at * (self.to - self.from)).exp().round() as i64)
    }

    /// How many samples lie in each of `columns` equal parts of the axis.
    pub(crate) fn bins(&self, histogram: &Histogram, columns: usize) -> Vec<u64> {
        let mut bins = vec![0; columns];
        let mut add = |latency: Ns, count: u64| {
            let column = ((self.at(latency) * columns as f64) as usize).min(columns.saturating_sub(1));
            if let Some(bin) = bins.get_mut(column) {
                *bin += count;
            }
        };
        // The largest latency of a bucket may lie above the largest there was.
        let max = histogram.max().unwrap_or(Ns::MAX);
        histogram.buckets().iter().for_each(|bucket| add(bucket.upto.min(max), bucket.count));
        if histogram.overflow() > 0 {
            add(max, histogram.overflow());
        }
        bins
    }
}

/// The height of a column, 0 to 1 of the highest: logarithmic, because the one late wake-up
/// in a million is what matters; a single sample is seen.
pub(crate) fn height(count: u64, highest: u64) -> f64 {
    if count == 0 { 0.0 } else { (count as f64 + 1.0).ln() / (highest.max(count) as f64 + 1.0).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_has_its_column() {
        let histogram: Histogram = (1..=10_000).map(|i| Ns(i * 37)).chain([Ns::from_secs(30)]).collect();
        let axis = LogAxis::of([&histogram].into_iter()).expect("there are samples");
        for columns in [1, 7, 120] {
            let bins = axis.bins(&histogram, columns);
            assert_eq!((bins.len(), bins.iter().sum::<u64>()), (columns, 10_001));
            assert!(bins[columns - 1] > 0, "the maximum is in the last");
        }
        assert_eq!(axis.latency(0.0), Ns(37));
        assert_eq!(axis.latency(1.0), Ns::from_secs(30));
    }

    #[test]
    fn one_sample_is_enough_and_none_is_none() {
        let one: Histogram = [Ns(1_000)].into_iter().collect();
        let axis = LogAxis::of([&one].into_iter()).expect("there is a sample");
        assert_eq!(axis.bins(&one, 4), [1, 0, 0, 0]);
        assert!(LogAxis::of([&Histogram::default()].into_iter()).is_none());
    }

    #[test]
    fn one_in_a_million_is_seen() {
        assert_eq!(height(0, 10), 0.0);
        assert!(height(1, 1_000_000) > 0.04);
        assert_eq!(height(10, 10), 1.0);
    }
}
