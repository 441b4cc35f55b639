//! Native histograms: buckets whose bounds grow by one factor, only those that are not empty
//! (prometheus.io/docs/specs/native_histograms).

use crate::bounds;
use whylate_stats::Histogram;

/// A bucket's bound is 2^(2^-SCHEMA) times the one before: 9 % more.
pub(crate) const SCHEMA: i32 = 3;
/// Buckets from one power of two to the next.
const IN_AN_OCTAVE: f64 = (1 << SCHEMA) as f64;
/// No latency but 0 is within it, in seconds.
pub(crate) const ZERO_THRESHOLD: f64 = 1e-10;

/// A distribution in buckets of seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NativeHistogram {
    /// MetricSamples of 0.
    pub(crate) zero: u64,
    /// Buckets that are not empty, in ascending order: `index` has those up to 2^(index / 8) seconds.
    pub(crate) buckets: Vec<(i32, u64)>,
}

impl NativeHistogram {
    pub(crate) fn of(histogram: &Histogram) -> NativeHistogram {
        let mut native = NativeHistogram::default();
        for (latest, count) in bounds::latest(histogram) {
            if latest.0 <= 0 {
                native.zero += count;
                continue;
            }
            let index = (latest.as_secs_f64().log2() * IN_AN_OCTAVE).ceil() as i32;
            match native.buckets.last_mut() {
                Some((last, sum)) if *last == index => *sum += count,
                _ => native.buckets.push((index, count)),
            }
        }
        native
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_base::Ns;

    fn bound(index: i32) -> f64 {
        (f64::from(index) / IN_AN_OCTAVE).exp2()
    }

    proptest! {
        #[test]
        fn every_sample_is_counted_once_and_within_its_bound(samples in prop::collection::vec(0_i64..30_000_000_000, 0..100)) {
            let histogram: Histogram = samples.iter().map(|&ns| Ns(ns)).collect();
            let native = NativeHistogram::of(&histogram);
            let all: u64 = native.zero + native.buckets.iter().map(|(_, count)| count).sum::<u64>();
            prop_assert_eq!(all, samples.len() as u64);
            prop_assert!(native.buckets.is_sorted_by(|a, b| a.0 < b.0), "{:?}", native.buckets);
            for &sample in &samples {
                let not_later = samples.iter().filter(|&&other| other <= sample).count() as u64;
                let seconds = Ns(sample).as_secs_f64();
                let counted: u64 = native.zero
                    + native.buckets.iter().filter(|(index, _)| bound(*index) < seconds).map(|(_, count)| count).sum::<u64>();
                prop_assert!(counted < not_later.max(1), "{} of {}", counted, not_later);
            }
        }
    }

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        let native = NativeHistogram::of(
            &[Ns(0), Ns::from_ms(500), Ns::from_secs(1), Ns(1_000_000_001)].into_iter().collect(),
        );
        assert_eq!(native.zero, 1);
        let indexes: Vec<i32> = native.buckets.iter().map(|(index, _)| *index).collect();
        // Those of the measured histogram's buckets are 0.1 % wide.
        assert!(indexes[0] <= -7 && indexes[indexes.len() - 1] == 1, "{indexes:?}");
    }
}
