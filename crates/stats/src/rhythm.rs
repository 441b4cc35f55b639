//! Do spikes come in a rhythm? Their times, wound around a circle of the period, then lie close together (Rayleigh).

use whylate_base::Ns;

/// A rhythm of instants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rhythm {
    /// From one beat to the next.
    pub period: Ns,
    /// How close to the beat they lie: 1 exactly on it, 0 anywhere.
    pub strength: f64,
}

/// The number of spikes that are examined; with fewer than the least, anything looks like a rhythm.
const FEWEST: usize = 5;
const MOST: usize = 512;
/// An interval may hold so many beats of which only the ends were seen.
const MOST_BEATS: i64 = 6;
/// Chance is to explain a rhythm less often than this, all periods that were tried together.
const BY_CHANCE: f64 = 1e-4;
/// Less than this is a tendency, which does not help to find a culprit.
const WEAKEST: f64 = 0.8;

/// The longest period that instants keep, if any. Beats may be missing, a few instants may be others.
pub fn rhythm(times: &[Ns]) -> Option<Rhythm> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.dedup();
    times.truncate(MOST);
    if times.len() < FEWEST {
        return None;
    }
    let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.sort_unstable();
    let picked = (0..=16).map(|at| gaps[at * (gaps.len() - 1) / 16]);
    let mut candidates: Vec<f64> =
        picked.flat_map(|gap| (1..=MOST_BEATS).map(move |beats| gap as f64 / beats as f64)).collect();
    candidates.retain(|period| *period >= 1.0);
    candidates.sort_by(f64::total_cmp);
    candidates.dedup_by(|a, b| (*a - *b).abs() < 1e-6 * *b);
    let tried = candidates.len() as f64;
    let found = candidates.iter().map(|&period| refined(&times, period));
    // Of a longer period the instants are one beat, not several.
    let span = (times[times.len() - 1].0 - times[0].0) as f64;
    let longest = span * 1.1 / (FEWEST - 1) as f64;
    let good = found.filter(|(period, strength)| {
        *period <= longest
            && *strength >= WEAKEST
            && tried * (-(times.len() as f64) * strength * strength).exp() < BY_CHANCE
    });
    let good: Vec<(f64, f64)> = good.collect();
    let strongest = good.iter().map(|found| found.1).fold(0.0, f64::max);
    // Every part of a period is a period as well.
    let longest =
        good.into_iter().filter(|found| found.1 >= strongest - 0.05).max_by(|a, b| a.0.total_cmp(&b.0));
    longest.map(|(period, strength)| Rhythm { period: Ns(period.round() as i64), strength })
}

/// The period near this one that fits best: first over a few beats, then over all, so that none is lost count of.
fn refined(times: &[Ns], period: f64) -> (f64, f64) {
    let origin = times[0].0;
    let mut period = period;
    let mut best = (period, 0.0);
    let mut many = FEWEST;
    loop {
        many = (many * 2).min(times.len());
        let some = &times[..many];
        let beats = ((some[many - 1].0 - origin) as f64 / period).max(1.0);
        best = (-24..=24)
            .map(|at| period * (1.0 + f64::from(at) / 24.0 / (2.0 * beats)))
            .map(|period| (period, strength(some, origin, period)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or(best);
        period = best.0;
        if many == times.len() {
            return best;
        }
    }
}

fn strength(times: &[Ns], origin: i64, period: f64) -> f64 {
    let (mut x, mut y) = (0.0, 0.0);
    for time in times {
        let angle = (time.0 - origin) as f64 / period * std::f64::consts::TAU;
        (x, y) = (x + angle.cos(), y + angle.sin());
    }
    x.hypot(y) / times.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_few_have_no_rhythm() {
        assert_eq!(rhythm(&[Ns(0), Ns(10), Ns(20), Ns(30)]), None);
        assert_eq!(rhythm(&[]), None);
        assert_eq!(rhythm(&[Ns(5); 40]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_rhythm_with_missing_beats_is_found(period in 1_000_000i64..2_000_000_000, seed in 0u64..1000) {
            let mut random = fastrand::Rng::with_seed(seed);
            let beats = (0..200i64).filter(|_| random.u8(..) < 200);
            let mut random = fastrand::Rng::with_seed(seed + 1);
            let times: Vec<Ns> = beats.map(|beat| Ns(beat * period + random.i64(0..period / 50))).collect();
            let found = rhythm(&times).expect("a rhythm");
            prop_assert!((found.period.0 as f64 / period as f64 - 1.0).abs() < 0.01, "{found:?} of {period}");
        }

        #[test]
        fn chance_has_none(seed in 0u64..10_000, count in 5usize..200) {
            let mut random = fastrand::Rng::with_seed(seed);
            let times: Vec<Ns> = (0..count).map(|_| Ns(random.i64(0..1_000_000_000_000))).collect();
            prop_assert_eq!(rhythm(&times), None);
        }
    }
}
