//! Columns of a histogram that every run's own buckets fit into.
//!
//! One run counts in classes of 1 us, another in thousandths: only where no bucket lies across the end of a column do
//! the same samples make columns of the same height.

use whylate_base::Ns;
use whylate_stats::Histogram;

/// Latencies at which a column begins, each wider than the one before by about the same factor, and the end of the last.
pub(super) fn edges(histograms: &[&Histogram], most: usize) -> Vec<Ns> {
    let first = |histogram: &&Histogram| histogram.buckets().first().map(|bucket| bucket.from);
    let (Some(from), Some(to)) = (
        histograms.iter().filter_map(|one| first(one).or(one.min())).min(),
        histograms.iter().filter_map(|one| one.max()).max(),
    ) else {
        return Vec::new();
    };
    let from = from.max(Ns::ZERO);
    let factor =
        ((to.0 + 1).max(2) as f64 / from.0.max(1) as f64).powf(1.0 / most.max(1) as f64).max(1.000_1);
    let mut edges = vec![from];
    let mut at = from;
    while at <= to {
        let mut next = Ns(((at.0.max(1) as f64 * factor) as i64).max(at.0 + 1));
        loop {
            let across = |histogram: &&Histogram| {
                let buckets = histogram.buckets();
                let bucket = buckets.get(buckets.partition_point(|bucket| bucket.upto < next))?;
                (bucket.from < next).then_some(Ns(bucket.upto.0 + 1))
            };
            match histograms.iter().filter_map(across).max() {
                Some(end) => next = end,
                None => break,
            }
        }
        edges.push(next);
        at = next;
    }
    edges
}

/// How many samples lie in each column.
pub(super) fn counts(histogram: &Histogram, edges: &[Ns]) -> Vec<u64> {
    let mut counts = vec![0; edges.len().saturating_sub(1)];
    let mut add = |latency: Ns, count: u64| {
        let column = edges.partition_point(|edge| *edge <= latency).saturating_sub(1);
        let last = counts.len().saturating_sub(1);
        if let Some(own) = counts.get_mut(column.min(last)) {
            *own += count;
        }
    };
    histogram.buckets().iter().for_each(|bucket| add(bucket.from, bucket.count));
    if histogram.overflow() > 0 {
        add(histogram.max().unwrap_or_default(), histogram.overflow());
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_stats::{Bucket, Exact};

    /// In classes of 1 us, as other tools count.
    fn coarse(samples: &[i64]) -> Histogram {
        let mut classes = std::collections::BTreeMap::<i64, u64>::new();
        samples.iter().for_each(|sample| *classes.entry(sample / 1_000).or_default() += 1);
        let bucket = |(us, count)| Bucket { from: Ns(us * 1_000), upto: Ns(us * 1_000 + 999), count };
        let exact = Exact {
            min: Ns(samples.iter().min().copied().unwrap_or_default() / 1_000 * 1_000),
            max: Ns(samples.iter().max().copied().unwrap_or_default() / 1_000 * 1_000),
            ..Exact::default()
        };
        Histogram::new(classes.into_iter().map(bucket), exact)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_same_samples_make_the_same_columns(
            samples in prop::collection::vec(prop_oneof![0i64..20_000, 0i64..50_000_000], 1..300), most in 1usize..200,
        ) {
            let fine: Histogram = samples.iter().map(|&sample| Ns(sample)).collect();
            let coarse = coarse(&samples);
            let edges = edges(&[&fine, &coarse], most);
            prop_assert!(edges.is_sorted() && edges.len() >= 2);
            let counted = counts(&fine, &edges);
            prop_assert_eq!(counted.iter().sum::<u64>(), samples.len() as u64);
            prop_assert_eq!(&counted, &counts(&coarse, &edges));
        }
    }

    #[test]
    fn what_is_off_the_scale_is_in_the_last_column() {
        let histogram: Histogram = [Ns(5_000), Ns::from_secs(30)].into_iter().collect();
        let edges = edges(&[&histogram], 40);
        let counted = counts(&histogram, &edges);
        assert_eq!((counted.iter().sum::<u64>(), counted.last()), (2, Some(&1)));
        assert_eq!(super::edges(&[&Histogram::default()], 40), Vec::<Ns>::new());
    }
}
