//! Numbers of distributions, of samples and of other programs' buckets.

use super::*;
use proptest::prelude::*;

fn histogram(samples: &[i64]) -> Histogram {
    samples.iter().map(|&sample| Ns(sample)).collect()
}

#[test]
fn nothing_measured_has_no_numbers() {
    let empty = histogram(&[]);
    assert_eq!((empty.min(), empty.max(), empty.mean(), empty.percentile(0.5)), (None, None, None, None));
    assert_eq!(empty.beyond(Ns(0)), 0);
}

#[test]
fn a_tail_needs_samples_beyond_it() {
    for (q, enough) in [(0.5, 2), (0.99, 100), (0.999, 1_000), (0.9999, 10_000)] {
        let of = |count: i64| histogram(&(1..=count).collect::<Vec<_>>());
        assert_eq!(of(enough - 1).tail(q), None, "{q} of {}", enough - 1);
        assert_eq!(of(enough).tail(q), of(enough).percentile(q), "{q} of {enough}");
        assert!(of(enough).tail(q).is_some(), "{q} of {enough}");
    }
    assert_eq!(histogram(&[]).tail(0.99), None);
}

#[test]
fn what_was_rounded_down_lies_between_two_ends() {
    let bucket = |us: i64, count| Bucket { from: Ns::from_us(us), upto: Ns(us * 1_000 + 9_999), count };
    let exact = Exact { overflow: 0, sum: 1_100_000, min: Ns::from_us(0), max: Ns::from_us(20) };
    let of =
        Histogram::new([bucket(0, 90), bucket(10, 9), bucket(20, 1)], exact).rounded_down_to(Ns::from_us(10));
    let ends = |bounds: Option<Bounds>| bounds.map(|bounds| (bounds.least.0, bounds.most.0));
    assert_eq!(ends(of.min_bounds()), Some((0, 9_999)));
    assert_eq!(ends(of.percentile_bounds(0.99)), Some((10_000, 19_999)));
    assert_eq!(ends(of.max_bounds()), Some((20_000, 29_999)));
    assert_eq!(ends(of.mean_bounds()), Some((11_000, 20_999)));
    assert_eq!((of.beyond(Ns(15_000)), of.surely_beyond(Ns(15_000))), (10, 1));
    assert_eq!((of.beyond(Ns(25_000)), of.surely_beyond(Ns(25_000))), (1, 0));
    assert_eq!((of.beyond(Ns(29_999)), of.surely_beyond(Ns(9_999))), (0, 10));
}

#[test]
fn what_a_program_does_not_print_is_not_known() {
    let exact = Exact { overflow: 7, sum: 0, min: Ns(0), max: Ns(9) };
    let most = Histogram::new([], exact).without_min().without_mean();
    assert_eq!((most.min_bounds(), most.mean_bounds(), most.max()), (None, None, Some(Ns(9))));
    assert_eq!((most.tail(0.5), most.beyond(Ns(5)), most.surely_beyond(Ns(5))), (None, 7, 1));
    let mut all = histogram(&[2, 3]);
    all.merge(&most);
    assert_eq!((all.count(), all.min(), all.mean(), all.max()), (9, None, None, most.max()));
}

#[test]
fn absurd_counts_of_a_file_are_survived() {
    let bucket = |upto, count| Bucket { from: Ns(upto), upto: Ns(upto), count };
    let exact = Exact { overflow: u64::MAX, sum: u64::MAX, min: Ns(1), max: Ns(9) };
    let mut absurd = Histogram::new([bucket(1, u64::MAX), bucket(2, u64::MAX)], exact);
    absurd.merge(&absurd.clone());
    assert_eq!((absurd.count(), absurd.beyond(Ns(0)), absurd.min()), (u64::MAX, u64::MAX, Some(Ns(1))));
    assert_eq!((absurd.percentile(0.5), absurd.tail(0.99)), (Some(Ns(1)), None));
}

#[test]
fn what_is_too_long_for_a_bucket_is_counted_and_exact_as_maximum() {
    let long = MeasuredLayout::LIMIT.0 + 5;
    let measured = histogram(&[1_000, long, 2_000]);
    assert_eq!((measured.count(), measured.overflow()), (3, 1));
    assert_eq!(measured.max(), Some(Ns(long)));
    assert_eq!(measured.percentile(1.0), Some(Ns(long)));
    assert_eq!((measured.percentile(0.5), measured.median()), (Some(Ns(2_000)), Some(Ns(2_000))));
    assert_eq!(histogram(&[1_000, long]).median(), Some(Ns(1_000)));
    assert_eq!(histogram(&[1_000, long, long]).median(), None, "all that is known is that it is long");
    assert_eq!((measured.beyond(Ns(2_000)), measured.beyond(Ns(999)), measured.beyond(Ns(long))), (1, 3, 0));
}

/// What the property below finds by chance only.
#[test]
fn merging_is_measuring_together_where_one_part_is_in_no_bucket() {
    let long = MeasuredLayout::LIMIT.0 + 1;
    for (one, other) in [(vec![0], vec![long]), (vec![long], vec![0]), (vec![0, long + 1], vec![long])] {
        let mut merged = histogram(&one);
        merged.merge(&histogram(&other));
        assert_eq!(merged, histogram(&[one, other].concat()));
        assert_eq!(merged.limit(), MeasuredLayout::LIMIT);
    }
    assert_eq!(histogram(&[long + 1, long]).limit(), Ns(long), "the least of those that are in no bucket");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn percentiles_follow_the_sorted_samples(
        mut samples in prop::collection::vec(prop_oneof![0i64..5_000, 0i64..20_000_000_000], 1..400),
        q in 0.0f64..=1.0,
    ) {
        let measured = histogram(&samples);
        samples.sort_unstable();
        let rank = ((q * samples.len() as f64).ceil() as usize).clamp(1, samples.len());
        let exact = samples[rank - 1];
        let got = measured.percentile(q).expect("samples").0;
        prop_assert!(got <= exact, "{got} > {exact}");
        let slack = if exact < MeasuredLayout::LIMIT.0 { exact / 1_000 + 1 } else { exact };
        prop_assert!(got >= exact - slack, "{got} < {exact}");
        let bounds = measured.percentile_bounds(q).expect("samples");
        prop_assert!(bounds.least.0 == got && exact <= bounds.most.0, "{bounds:?}");
        let later = samples.iter().filter(|sample| **sample > exact).count() as u64;
        prop_assert!(measured.surely_beyond(Ns(exact)) <= later && later <= measured.beyond(Ns(exact)));
        prop_assert_eq!(measured.min(), samples.first().map(|&s| Ns(s)));
        prop_assert_eq!(measured.max(), samples.last().map(|&s| Ns(s)));
        let (sum, count) = (samples.iter().sum::<i64>(), samples.len() as i64);
        prop_assert_eq!(measured.mean(), Some(Ns((2 * sum + count) / (2 * count))));
        let counted: u64 = measured.buckets().iter().map(|b| b.count).sum();
        prop_assert_eq!(counted + measured.overflow(), samples.len() as u64);
    }

    /// Whatever the buckets of two or three threads are: a percentile of all lies between its bounds.
    #[test]
    fn buckets_that_overlap_are_not_summed_up(
        threads in prop::collection::vec(prop::collection::vec(0i64..1_000, 2..60), 1..4),
        widths in prop::collection::vec(1usize..40, 3),
        q in 0.0f64..=1.0,
    ) {
        let mut sum = Histogram::default();
        for (samples, width) in threads.iter().zip(&widths) {
            let mut samples = samples.clone();
            samples.sort_unstable();
            // As many samples in each bucket, of which two may begin and end with the same one.
            let mut buckets: Vec<Bucket> = Vec::new();
            for part in samples.chunks(*width) {
                let (from, upto) = (Ns(part[0]), Ns(part[part.len() - 1]));
                match buckets.last_mut() {
                    Some(last) if last.upto >= from => {
                        (last.upto, last.count) = (upto, last.count + part.len() as u64);
                    }
                    _ => buckets.push(Bucket { from, upto, count: part.len() as u64 }),
                }
            }
            let (min, max) = (Ns(samples[0]), Ns(samples[samples.len() - 1]));
            sum.merge(&Histogram::new(buckets, Exact { min, max, ..Exact::default() }));
        }
        let mut all = threads.concat();
        all.sort_unstable();
        let exact = all[((q * all.len() as f64).ceil() as usize).clamp(1, all.len()) - 1];
        let bounds = sum.percentile_bounds(q).expect("samples");
        prop_assert!(bounds.least.0 <= exact && exact <= bounds.most.0, "{bounds:?}: {exact}, {sum:?}");
        let later = all.iter().filter(|sample| **sample > exact).count() as u64;
        prop_assert!(sum.surely_beyond(Ns(exact)) <= later && later <= sum.beyond(Ns(exact)));
        // Counts are those of the buckets, which are exact where one ends.
        prop_assert_eq!((sum.count(), sum.beyond(Ns(-1)), sum.surely_beyond(Ns(-1))), {
            let count = all.len() as u64;
            (count, count, count)
        });
    }

    #[test]
    fn merging_is_measuring_together(
        a in prop::collection::vec(0i64..20_000_000_000, 0..100),
        b in prop::collection::vec(0i64..20_000_000_000, 0..100),
    ) {
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        let together = histogram(&[a, b].concat());
        if together.count() > 0 {
            prop_assert_eq!(merged, together);
        }
    }
}
