//! The buckets of every histogram: log-linear, of a chosen precision.

use whylate_base::Ns;

/// Buckets that are exact below `2 << BITS` ns, with `1 << BITS` buckets to each doubling: a bucket's upper edge is at
/// most `1 / (1 << BITS)` above its lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout<const BITS: u32>;

/// The layout of measurements: within 0.1 %.
pub type MeasuredLayout = Layout<10>;

impl<const BITS: u32> Layout<BITS> {
    /// Measurements count latencies from here on (17.2 s) as overflow, so that the number of buckets is known.
    pub const LIMIT: Ns = Ns(1 << 34);
    /// How many buckets there are below [`LIMIT`](Self::LIMIT).
    pub const BUCKETS: usize = index::<BITS>(Self::LIMIT.0 as u64 - 1) + 1;

    /// The bucket of a latency, however long; a negative one counts as zero.
    #[inline]
    pub fn index(latency: Ns) -> usize {
        index::<BITS>(latency.0.max(0) as u64)
    }

    /// The bucket of a latency; `None` from [`LIMIT`](Self::LIMIT) on.
    #[inline]
    pub fn bucket_of(latency: Ns) -> Option<usize> {
        (latency < Self::LIMIT).then(|| Self::index(latency))
    }

    /// The largest latency of a bucket.
    pub fn upper(bucket: usize) -> Ns {
        let shift = (bucket >> BITS).saturating_sub(1) as u32;
        let value = (bucket - ((shift as usize) << BITS)) as u64;
        Ns(((value << shift) + ((1 << shift) - 1)) as i64)
    }

    /// The smallest latency of a bucket.
    pub fn lower(bucket: usize) -> Ns {
        bucket.checked_sub(1).map_or(Ns::ZERO, |before| Ns(Self::upper(before).0 + 1))
    }
}

const fn index<const BITS: u32>(value: u64) -> usize {
    let high = u64::BITS - 1 - (value | 1).leading_zeros();
    let shift = high.saturating_sub(BITS);
    ((shift as usize) << BITS) + (value >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets_adjoin<const BITS: u32>() {
        for bucket in 0..Layout::<BITS>::BUCKETS {
            let (lower, upper) = (Layout::<BITS>::lower(bucket), Layout::<BITS>::upper(bucket));
            assert_eq!(Layout::<BITS>::bucket_of(upper), Some(bucket));
            assert_eq!(Layout::<BITS>::bucket_of(lower), Some(bucket));
            assert!(
                (upper.0 - lower.0) as f64 <= lower.0 as f64 / f64::from(1 << BITS),
                "{bucket} of {BITS} bits"
            );
            let next = Ns(upper.0 + 1);
            assert_eq!(Layout::<BITS>::index(next), bucket + 1);
            let inside = bucket + 1 < Layout::<BITS>::BUCKETS;
            assert_eq!(Layout::<BITS>::bucket_of(next), inside.then_some(bucket + 1));
        }
    }

    #[test]
    fn every_bucket_ends_where_the_next_begins() {
        buckets_adjoin::<10>();
        buckets_adjoin::<8>();
    }

    #[test]
    fn the_longest_and_the_negative_have_a_bucket() {
        let last = Layout::<8>::index(Ns(i64::MAX));
        assert_eq!(Layout::<8>::upper(last), Ns(i64::MAX));
        assert_eq!(Layout::<8>::index(Ns(-5)), 0);
    }
}
