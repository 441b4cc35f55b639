//! The time of one operation, which may be less than a nanosecond's multiple.

use std::fmt;
use whylate_base::Ns;
use whylate_stats::Histogram;

/// Nanoseconds per operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct OperationTime(pub f64);

impl OperationTime {
    /// Of a sample of so many operations.
    pub(crate) fn of(sample: Ns, operations: u32) -> OperationTime {
        OperationTime(sample.0 as f64 / f64::from(operations.max(1)))
    }

    /// So many operations, one after the other.
    pub fn times(self, operations: u64) -> Ns {
        Ns((self.0 * operations as f64).round() as i64)
    }

    /// How many times as long as another one it is.
    pub fn ratio(self, other: OperationTime) -> f64 {
        self.0 / other.0.max(f64::MIN_POSITIVE)
    }
}

impl fmt::Display for OperationTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            time if time < 99.95 => f.pad(&format!("{time:.1} ns")),
            time => Ns(time.round() as i64).fmt(f),
        }
    }
}

/// How long operations took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerOperation {
    /// The median of samples, each the mean of its operations.
    pub p50: OperationTime,
    /// The 99th percentile of the same; `None` with fewer than 100 samples.
    pub p99: Option<OperationTime>,
    /// The longest single operation at most: the longest sample without the usual time of its other operations.
    pub max: OperationTime,
    /// The mean of all operations.
    pub mean: OperationTime,
}

impl PerOperation {
    /// Of samples of so many operations each; `None` without samples.
    pub(super) fn of(samples: &Histogram, operations: u32) -> Option<PerOperation> {
        let per = |sample: Ns| OperationTime::of(sample, operations);
        let median = samples.percentile(0.5)?;
        let others = per(median).times(u64::from(operations.saturating_sub(1)));
        Some(PerOperation {
            p50: per(median),
            p99: samples.tail(0.99).map(per),
            max: OperationTime((samples.max()? - others).0.max(0) as f64),
            mean: per(samples.mean()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_below_a_microsecond_keeps_its_tenths() {
        let text = |ns| OperationTime(ns).to_string();
        assert_eq!([text(4.26), text(99.96), text(1_500.0)], ["4.3 ns", "100 ns", "1.50 us"]);
    }

    #[test]
    fn the_longest_operation_is_its_sample_without_the_others() {
        let samples: Histogram = (0..99).map(|_| Ns(1_000)).chain([Ns(6_000)]).collect();
        let per = PerOperation::of(&samples, 100).expect("samples");
        // Buckets are 0.1 % wide.
        assert!((per.p50.0 - 10.0).abs() < 0.02, "{per:?}");
        assert!((per.max.0 - 5_010.0).abs() < 10.0, "{per:?}");
        assert_eq!(PerOperation::of(&Histogram::default(), 1), None);
        let few: Histogram = [Ns(5), Ns(7)].into_iter().collect();
        assert_eq!(PerOperation::of(&few, 1).expect("samples").p99, None);
    }
}
