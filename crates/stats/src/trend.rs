//! Is it getting worse? Mann and Kendall's test: it asks nothing of the distribution.

/// A trend in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Kendall's S: pairs that rise less pairs that fall.
    pub s: f64,
    /// How likely a series without a trend shows one as strong, either way.
    pub p: f64,
    /// The median slope of all pairs (Theil and Sen), in units of the values for each step.
    pub slope: f64,
}

/// Longer series are thinned: pairs grow with the square.
const MOST: usize = 1024;

/// The trend of a series; `None` with fewer than 10 values, of which the normal approximation knows nothing, or where
/// all are the same.
pub fn trend(series: &[f64]) -> Option<Trend> {
    let every = series.len().div_ceil(MOST).max(1);
    let thinned: Vec<f64> =
        series.chunks(every).map(|chunk| chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
    let n = thinned.len();
    if n < 10 {
        return None;
    }
    let mut s = 0.0;
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (at, early) in thinned.iter().enumerate() {
        for (later, late) in thinned.iter().enumerate().skip(at + 1) {
            let rise = late - early;
            s += if rise > 0.0 {
                1.0
            } else if rise < 0.0 {
                -1.0
            } else {
                0.0
            };
            slopes.push(rise / (later - at) as f64);
        }
    }
    let mut sorted = thinned.clone();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|same| pairs_weight(same.len() as f64)).sum();
    let variance = (pairs_weight(n as f64) - ties) / 18.0;
    if variance <= 0.0 {
        return None;
    }
    let middle = slopes.len() / 2;
    let (_, slope, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
    Some(Trend { s, p: crate::normal::two_sided(s / variance.sqrt()), slope: *slope / every as f64 })
}

fn pairs_weight(n: f64) -> f64 {
    n * (n - 1.0) * (2.0 * n + 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_falling_neither() {
        let rising: Vec<f64> = (0..50).map(|at| f64::from(at) + f64::from(at * 7 % 5)).collect();
        let found = trend(&rising).expect("a trend");
        assert!(found.p < 1e-6 && found.s > 0.0 && (found.slope - 1.0).abs() < 0.1, "{found:?}");
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert_eq!(trend(&falling).map(|trend| trend.s), Some(-found.s));
        let mut random = fastrand::Rng::with_seed(3);
        let none: Vec<f64> = (0..5000).map(|_| random.f64()).collect();
        assert!(trend(&none).is_some_and(|trend| trend.p > 0.01));
        assert_eq!(trend(&[1.0; 40]), None);
        assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
    }
}
