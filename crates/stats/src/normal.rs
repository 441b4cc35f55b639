//! The normal and the binomial distribution, as far as the tests here ask.

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

/// How likely a standard normal value is at least so far from 0, either way.
pub(crate) fn two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The standard normal value below which a share lies.
pub(crate) fn quantile(share: f64) -> f64 {
    -std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(2.0 * share)
}

/// How likely at most `k` of `n` happen, each with probability `p`.
pub(crate) fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    match k >= n {
        true => 1.0,
        false => beta_reg((n - k) as f64, k as f64 + 1.0, 1.0 - p),
    }
}

/// The largest probability at which at most `k` of `n` would still happen in a share `doubt` of all tries (Clopper and
/// Pearson, Biometrika 26, 1934).
pub(crate) fn most_likely_rate(k: u64, n: u64, doubt: f64) -> f64 {
    match (k, n) {
        (_, 0) => 1.0,
        (k, n) if k >= n => 1.0,
        // Without a single one there is a closed form, which is exact where the rate is tiny.
        (0, n) => -(doubt.ln() / n as f64).exp_m1(),
        (k, n) => {
            let (mut low, mut high) = (k as f64 / n as f64, 1.0);
            for _ in 0..200 {
                let middle = (low + high) / 2.0;
                if binomial_at_most(k, n, middle) > doubt { low = middle } else { high = middle }
            }
            high
        }
    }
}
