//! What is fitted, and above all what is refused.

use super::*;

/// A measurement of `count` wake-ups, a millisecond apart.
fn measured(count: usize, mut latency: impl FnMut(usize, &mut fastrand::Rng) -> f64) -> (Histogram, Maxima) {
    let mut random = fastrand::Rng::with_seed(count as u64);
    let mut maxima = Maxima::new(Ns::from_ms(250));
    let samples = (0..count).map(|at| {
        let latency = Ns(latency(at, &mut random) as i64);
        maxima.record(Ns::from_ms(at as i64), latency);
        latency
    });
    let histogram = samples.collect();
    (histogram, maxima)
}

fn exponential(random: &mut fastrand::Rng) -> f64 {
    5_000.0 - 1_000.0 * (1.0 - random.f64()).ln()
}

#[test]
fn a_single_cause_has_levels_that_hold_the_truth() {
    let (histogram, maxima) = measured(60_000, |_, random| exponential(random));
    let truth = |p: f64| Ns((5_000.0 - 1_000.0 * p.ln()) as i64);
    let tail = Tail::fit(&histogram, Some(&maxima)).expect("a fit");
    let blocks = Blocks::fit(&maxima, histogram.count()).expect("a fit");
    assert!(tail.pareto.shape.abs() < 0.25 && blocks.gev.shape.abs() < 0.25, "{tail:?} {:?}", blocks.gev);
    for p in [1e-5, 1e-6, 1e-7] {
        for level in [tail.level(p), blocks.level(p)] {
            let level = level.expect("a level");
            assert!(level.upper.is_some_and(|upper| upper >= truth(p)), "{level:?}, in truth {}", truth(p));
            let off = (level.estimate - truth(p)).0.abs();
            assert!(off < truth(p).0 / 3, "{level:?}, in truth {}", truth(p));
        }
    }
    assert_eq!(tail.level(0.5), None);
    let again = tail.beyond(tail.level(1e-6).expect("a level").estimate);
    assert!((again / 1e-6 - 1.0).abs() < 0.01, "{again}");
}

#[test]
fn what_means_nothing_is_refused() {
    let (few, maxima) = measured(400, |_, random| exponential(random));
    assert!(matches!(Tail::fit(&few, Some(&maxima)), Err(FitRefusal::TooFew { needed: 500, .. })));
    assert!(matches!(Blocks::fit(&maxima, few.count()), Err(FitRefusal::TooFew { .. })));

    let (coarse, _) = measured(20_000, |_, random| (exponential(random) / 5_000.0).round() * 5_000.0);
    assert!(matches!(Tail::fit(&coarse, None), Err(FitRefusal::TooCoarse { .. })));

    // One of another kind: story B, early in the measurement.
    let spike = |at, random: &mut fastrand::Rng| if at == 777 { 331_000.0 } else { exponential(random) };
    let (outlier, maxima) = measured(20_000, spike);
    assert_eq!(Tail::fit(&outlier, None), Err(FitRefusal::Outlier { largest: Ns(331_000) }));
    assert!(matches!(Blocks::fit(&maxima, outlier.count()), Err(FitRefusal::Outlier { .. })));

    // Something that happened three times, for a while.
    let (clustered, maxima) =
        measured(20_000, |at, random| exponential(random) + if at % 7_000 < 150 { 40_000.0 } else { 0.0 });
    assert!(matches!(Tail::fit(&clustered, Some(&maxima)), Err(FitRefusal::Clustered { .. })));

    let (worse, maxima) = measured(20_000, |at, random| exponential(random) * (1.0 + at as f64 / 20_000.0));
    assert!(matches!(Tail::fit(&worse, Some(&maxima)), Err(FitRefusal::Trend { per_hour: Ns(1..) })));

    let (heavy, _) = measured(20_000, |_, random| 1_000.0 * (1.0 - random.f64()).powf(-0.9));
    assert!(matches!(Tail::fit(&heavy, None), Err(FitRefusal::TooHeavy { .. })));
}

#[test]
fn of_two_causes_the_rarer_one_counts_or_none() {
    // The second one once in a hundred times, 20 us later.
    let (mixed, maxima) = measured(30_000, |_, random| {
        exponential(random) + if random.u32(0..100) == 0 { 20_000.0 + random.f64() * 200.0 } else { 0.0 }
    });
    let truth = |p: f64| Ns((25_100.0 - 1_000.0 * (p / 0.01).ln()) as i64);
    match Tail::fit(&mixed, Some(&maxima)) {
        Ok(tail) => {
            assert!(tail.threshold > Ns(20_000), "{tail:?}");
            let level = tail.level(1e-6).expect("a level");
            assert!(level.upper.is_some_and(|upper| upper >= truth(1e-6)), "{level:?}");
        }
        Err(refusal) => {
            assert!(matches!(refusal, FitRefusal::NoFit { .. } | FitRefusal::TooAbrupt { .. }), "{refusal}")
        }
    }
}

#[test]
fn the_same_data_get_the_same_answer() {
    let (histogram, maxima) = measured(30_000, |_, random| exponential(random));
    assert_eq!(Tail::fit(&histogram, Some(&maxima)), Tail::fit(&histogram, Some(&maxima)));
}
