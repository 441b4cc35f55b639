//! A running distribution: exact extremes, percentiles from logarithmic buckets.

use crate::Spread;
use whylate_base::Ns;
use whylate_stats::Layout;

/// Buckets are at most 1/256 wide: there are three distributions for each thread of a recording.
type Buckets = Layout<8>;

/// So many values are kept one by one: of a million threads most have few, and counts take kilobytes.
const FEW: usize = 64;

/// Counts values without keeping them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distribution {
    /// The buckets of the first values, as they came; empty once they are counted.
    few: Vec<u16>,
    /// How many values are in each bucket, from the value after the first few on.
    buckets: Vec<u32>,
    count: u64,
    min: i64,
    max: i64,
}

impl Distribution {
    #[inline]
    pub(crate) fn record(&mut self, value: Ns) {
        let value = value.0.max(0);
        let bucket = Buckets::index(Ns(value));
        match self.buckets.get_mut(bucket) {
            Some(times) => *times = times.saturating_add(1),
            None => self.record_rare(value, bucket),
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.count += 1;
    }

    /// One of the first few values, or one that no bucket is there for.
    #[cold]
    fn record_rare(&mut self, value: i64, bucket: usize) {
        if self.count == 0 {
            (self.min, self.max) = (value, value);
        }
        match u16::try_from(bucket) {
            Ok(bucket) if self.count < FEW as u64 => self.few.push(bucket),
            _ => {
                for few in std::mem::take(&mut self.few) {
                    self.add(usize::from(few));
                }
                self.add(bucket);
            }
        }
    }

    fn add(&mut self, bucket: usize) {
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] = self.buckets[bucket].saturating_add(1);
    }

    /// The smallest recorded value that `share` of all do not exceed, to the bucket's width.
    pub(crate) fn percentile(&self, share: f64) -> Option<Ns> {
        if self.count == 0 {
            return None;
        }
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count);
        let bucket = match self.few.is_empty() {
            true => {
                let mut seen = 0;
                self.buckets.iter().position(|&n| {
                    seen += u64::from(n);
                    seen >= rank
                })?
            }
            false => {
                let mut few = self.few.clone();
                let rank = usize::try_from(rank - 1).ok().filter(|&rank| rank < few.len())?;
                usize::from(*few.select_nth_unstable(rank).1)
            }
        };
        Some(Ns(Buckets::upper(bucket).0.clamp(self.min, self.max)))
    }

    pub(crate) fn spread(&self) -> Option<Spread> {
        Some(Spread {
            min: Ns(self.min),
            p50: self.percentile(0.5)?,
            p99: self.percentile(0.99)?,
            max: Ns(self.max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_within_a_bucket_of_the_sorted_values(
            mut values in prop::collection::vec(0i64..10_000_000_000, 1..300),
            share in 0.01f64..1.0,
        ) {
            let mut distribution = Distribution::default();
            values.iter().for_each(|&value| distribution.record(Ns(value)));
            values.sort();
            let rank = ((values.len() as f64 * share).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1];
            let got = distribution.percentile(share).expect("values").0;
            prop_assert!(got >= exact && got as f64 <= exact as f64 * (1.0 + 1.0 / 256.0) + 1.0, "{got} for {exact}");
            let spread = distribution.spread().expect("values");
            prop_assert_eq!((spread.min.0, spread.max.0), (values[0], values[values.len() - 1]));
        }
    }
}
