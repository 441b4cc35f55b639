//! The generalised extreme value distribution: what maxima of long blocks look like (Fisher and Tippett 1928).

use super::goodness::anderson_darling;
use crate::search::{crossing, summit};

/// `P(M <= x) = exp(-(1 + shape * (x - location) / scale) ^ (-1 / shape))`; with shape 0, Gumbel's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gev {
    /// In the unit of the values.
    pub location: f64,
    /// In the unit of the values; above 0.
    pub scale: f64,
    /// Below 0 there is a largest possible value; above 0 the tail is heavier than an exponential one.
    pub shape: f64,
}

const NO_SHAPE: f64 = 1e-9;
const EULER: f64 = 0.577_215_664_901_532_9;

impl Gev {
    /// The one most likely to have given `maxima`. `None` with fewer than three different ones.
    pub fn fit(maxima: &[f64]) -> Option<Gev> {
        let mut sorted = maxima.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut different = sorted.clone();
        different.dedup();
        if different.len() < 3 || sorted.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let start = Gev::by_moments(&sorted);
        let of = |[location, log_scale, shape]: &[f64; 3]| Gev {
            location: *location,
            scale: log_scale.exp(),
            shape: *shape,
        };
        let worth = |point: &[f64; 3]| match (-0.99..3.0).contains(&point[2]) {
            true => of(point).likelihood(maxima),
            false => f64::NEG_INFINITY,
        };
        let mut best = ([start.location, start.scale.ln(), start.shape], f64::NEG_INFINITY);
        // A simplex that has become flat is begun anew.
        for _ in 0..4 {
            best = summit(best.0, [best.0[1].exp() / 4.0, 0.2, 0.1], worth);
        }
        best.1.is_finite().then(|| of(&best.0))
    }

    /// By L-moments (Hosking, Wallis and Wood, Technometrics 27, 1985); where that one could not have given the
    /// values, Gumbel's.
    fn by_moments(sorted: &[f64]) -> Gev {
        let count = sorted.len() as f64;
        let weighted = |weight: &dyn Fn(f64) -> f64| {
            sorted.iter().enumerate().map(|(at, value)| weight(at as f64) * value).sum::<f64>() / count
        };
        let b0 = weighted(&|_| 1.0);
        let b1 = weighted(&|at| at / (count - 1.0));
        let b2 = weighted(&|at| at * (at - 1.0) / ((count - 1.0) * (count - 2.0)));
        let (l2, l3) = (2.0 * b1 - b0, 6.0 * b2 - 6.0 * b1 + b0);
        let gumbel = l2 / std::f64::consts::LN_2;
        let plain = Gev { location: b0 - EULER * gumbel, scale: gumbel, shape: 0.0 };
        let c = 2.0 / (3.0 + l3 / l2) - std::f64::consts::LN_2 / 3f64.ln();
        let k = 7.859 * c + 2.9554 * c * c;
        let gamma = statrs::function::gamma::gamma(1.0 + k);
        let scale = l2 * k / ((1.0 - 2f64.powf(-k)) * gamma);
        let fit = Gev { location: b0 - scale * (1.0 - gamma) / k, scale, shape: -k };
        match fit.likelihood(sorted).is_finite() && fit.scale > 0.0 {
            true => fit,
            false => plain,
        }
    }

    /// The logarithm of how likely it gives these maxima.
    pub fn likelihood(&self, maxima: &[f64]) -> f64 {
        let one = |x: &f64| {
            let z = (x - self.location) / self.scale;
            if self.shape.abs() < NO_SHAPE {
                return -z - (-z).exp();
            }
            let log = (self.shape * z).ln_1p();
            -(1.0 + 1.0 / self.shape) * log - (-log / self.shape).exp()
        };
        maxima.iter().map(one).sum::<f64>() - maxima.len() as f64 * self.scale.ln()
    }

    /// The probability that a block's maximum is above `x`.
    pub fn beyond(&self, x: f64) -> f64 {
        let z = (x - self.location) / self.scale;
        let log = match self.shape.abs() < NO_SHAPE {
            true => -z,
            // Beyond the end of the tail there is nothing; before its beginning everything.
            false => -(self.shape * z).max(-1.0).ln_1p() / self.shape,
        };
        -(-log.exp()).exp_m1()
    }

    /// The maximum that a block exceeds with probability `p`.
    pub fn exceeded_with(&self, p: f64) -> f64 {
        self.location + self.scale * stretch(self.shape, p)
    }

    /// The values that the same data allow for what a block exceeds with probability `p` end here, with a confidence
    /// of 95 % on this one side (profile likelihood). `None`: they do not end.
    pub fn upper(&self, maxima: &[f64], p: f64) -> Option<f64> {
        const DROP: f64 = 2.705_543_454_095_404 / 2.0;
        let most = self.likelihood(maxima);
        let estimate = self.exceeded_with(p);
        let profile = |level: f64| {
            let worth = |[log_scale, shape]: &[f64; 2]| match (-0.99..3.0).contains(shape) {
                true => {
                    let scale = log_scale.exp();
                    Gev { location: level - scale * stretch(*shape, p), scale, shape: *shape }
                        .likelihood(maxima)
                }
                false => f64::NEG_INFINITY,
            };
            // Near the estimate its own scale and shape are good; far from it, heavier tails are.
            let starts = [0.0, 0.1, 0.3, 0.6]
                .map(|more| summit([self.scale.ln(), self.shape + more], [0.2, 0.05], worth));
            starts.iter().map(|start| summit(start.0, [0.1, 0.02], worth).1).fold(f64::NEG_INFINITY, f64::max)
        };
        let mut step = self.scale;
        for _ in 0..40 {
            let high = estimate + step;
            if most - profile(high) > DROP {
                return crossing(estimate, high, |level| most - profile(level) - DROP);
            }
            step *= 2.0;
        }
        None
    }

    /// The same without an end: an exponential tail where it has one.
    pub(super) fn endless(self) -> Self {
        Self { shape: self.shape.max(0.0), ..self }
    }

    /// Anderson and Darling's distance between it and sorted maxima.
    pub fn distance(&self, sorted: &[f64]) -> f64 {
        let uniform: Vec<f64> = sorted.iter().map(|x| 1.0 - self.beyond(*x)).collect();
        anderson_darling(&uniform)
    }

    /// A maximum of it, by a uniform number between 0 and 1.
    pub(super) fn draw(&self, uniform: f64) -> f64 {
        self.exceeded_with(1.0 - uniform)
    }
}

/// What a block exceeds with probability `p`, in units of the scale above the location.
fn stretch(shape: f64, p: f64) -> f64 {
    let reduced = -(-p).ln_1p();
    match shape.abs() < NO_SHAPE {
        true => -reduced.ln(),
        false => (-shape * reduced.ln()).exp_m1() / shape,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_fitted() {
        let mut random = fastrand::Rng::with_seed(11);
        for shape in [-0.25, 0.0, 0.2] {
            let truth = Gev { location: 50.0, scale: 8.0, shape };
            let drawn: Vec<f64> = (0..5_000).map(|_| truth.draw(random.f64())).collect();
            let fit = Gev::fit(&drawn).expect("a fit");
            assert!(
                (fit.shape - shape).abs() < 0.05 && (fit.scale - 8.0).abs() < 0.5,
                "{fit:?} of {truth:?}"
            );
            assert!((fit.beyond(fit.exceeded_with(1e-5)) / 1e-5 - 1.0).abs() < 1e-6);
            let some = &drawn[..200];
            let fit = Gev::fit(some).expect("a fit");
            let (estimate, upper) = (fit.exceeded_with(1e-3), fit.upper(some, 1e-3).expect("an end"));
            assert!(upper > estimate, "{upper} {estimate}");
        }
    }

    #[test]
    fn too_little_has_no_fit() {
        for few in [&[][..], &[1.0, 2.0], &[3.0, 3.0, 3.0, 4.0]] {
            assert_eq!(Gev::fit(few), None);
        }
    }
}
