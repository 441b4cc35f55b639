//! The fixed buckets of histograms.

use whylate_base::Ns;
use whylate_stats::Histogram;

/// Upper ends of the buckets, in ns and as OpenMetrics' canonical numbers of seconds.
pub(crate) const BOUNDS: [(i64, &str); 22] = [
    (1_000, "1e-06"),
    (2_000, "2e-06"),
    (5_000, "5e-06"),
    (10_000, "1e-05"),
    (20_000, "2e-05"),
    (50_000, "5e-05"),
    (100_000, "0.0001"),
    (200_000, "0.0002"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_000_000, "0.002"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (20_000_000, "0.02"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (200_000_000, "0.2"),
    (500_000_000, "0.5"),
    (1_000_000_000, "1.0"),
    (2_000_000_000, "2.0"),
    (5_000_000_000, "5.0"),
    (10_000_000_000, "10.0"),
];

/// Latencies with the number of samples that are surely no later, and later than the one before: in ascending order.
pub(crate) fn latest(histogram: &Histogram) -> impl Iterator<Item = (Ns, u64)> {
    let max = histogram.max().unwrap_or_default();
    let buckets = histogram.buckets().iter().map(move |bucket| (bucket.upto.min(max), bucket.count));
    // Of samples in no bucket only the latest is known.
    let beyond = (histogram.overflow() > 0).then(|| (max, histogram.overflow()));
    buckets.chain(beyond)
}

/// How many samples were surely no later than each bound: a bucket that a bound lies in is beyond it.
pub(crate) fn cumulative(histogram: &Histogram) -> impl Iterator<Item = (&'static (i64, &'static str), u64)> {
    let mut latest = latest(histogram).peekable();
    let mut count = 0;
    BOUNDS.iter().map(move |bound| {
        while let Some((_, samples)) = latest.next_if(|(latest, _)| latest.0 <= bound.0) {
            count += samples;
        }
        (bound, count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_stats::{Bucket, Exact};

    #[test]
    fn bounds_ascend_and_say_what_they_are() {
        assert!(BOUNDS.is_sorted());
        for (ns, text) in BOUNDS {
            let seconds: f64 = text.parse().expect("a number");
            assert_eq!((seconds * 1e9).round() as i64, ns, "{text}");
        }
    }

    #[test]
    fn nothing_is_counted_below_a_bound_that_may_be_above_it() {
        let bucket = |from, upto, count| Bucket { from: Ns(from), upto: Ns(upto), count };
        let exact = Exact { overflow: 3, sum: 0, min: Ns(900), max: Ns(3_000_000) };
        let histogram = Histogram::new([bucket(900, 999, 1), bucket(1_500, 2_499, 1)], exact);
        let counts: Vec<u64> = cumulative(&histogram).map(|(_, count)| count).collect();
        assert_eq!(counts[..3], [1, 1, 2], "up to 1, 2 and 5 us");
        assert_eq!(counts[9..12], [2, 2, 5], "up to 1, 2 and 5 ms");
        assert!(cumulative(&Histogram::default()).all(|(_, count)| count == 0));
    }
}
