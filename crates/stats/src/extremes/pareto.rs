//! The generalised Pareto distribution: what lies beyond a high threshold looks like it (Pickands 1975).

use super::goodness::anderson_darling;
use crate::search::{crossing, peak_of_grid};

/// `P(Y > y) = (1 + shape * y / scale) ^ (-1 / shape)`; with shape 0, `exp(-y / scale)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// Below 0 the tail ends; above 0 it is heavier than an exponential one.
    pub shape: f64,
    /// In the unit of the values; above 0.
    pub scale: f64,
}

/// Shapes closer to 0 are taken for it.
const NO_SHAPE: f64 = 1e-9;

impl Pareto {
    /// The one most likely to have given `excesses`, which are above 0 (Grimshaw, Technometrics 35, 1993: with
    /// `theta = shape / scale` the likelihood has one variable). `None` without two different ones.
    ///
    /// The likelihood has no largest value where the shape is below -1: there it ends, as is usual.
    pub fn fit(excesses: &[f64]) -> Option<Pareto> {
        let largest = excesses.iter().copied().fold(f64::NAN, f64::max);
        let smallest = excesses.iter().copied().fold(f64::NAN, f64::min);
        if smallest.is_nan() || smallest <= 0.0 || smallest >= largest {
            return None;
        }
        let mean = excesses.iter().sum::<f64>() / excesses.len() as f64;
        // From just above where the tail would end at the largest value, over 0, to heavy tails.
        let below = (0..60).map(|at| -(1.0 - 10f64.powf(-6.0 + 6.0 * f64::from(at) / 60.0)) / largest);
        let above = (0..80).map(|at| 10f64.powf(-5.0 + 9.0 * f64::from(at) / 79.0) / mean);
        let mut grid: Vec<f64> = below.chain([0.0]).chain(above).collect();
        grid.sort_by(f64::total_cmp);
        let theta = peak_of_grid(&grid, |theta| {
            Pareto::of_theta(theta, excesses).map_or(f64::NAN, |fit| fit.likelihood(excesses))
        });
        Pareto::of_theta(theta, excesses)
    }

    /// The most likely one of those with this ratio of shape to scale.
    fn of_theta(theta: f64, excesses: &[f64]) -> Option<Pareto> {
        let count = excesses.len() as f64;
        let mean = excesses.iter().sum::<f64>() / count;
        if (theta * mean).abs() < NO_SHAPE {
            return Some(Pareto { shape: 0.0, scale: mean });
        }
        let shape = excesses.iter().map(|y| (theta * y).ln_1p()).sum::<f64>() / count;
        let fit = Pareto { shape, scale: shape / theta };
        (shape >= -1.0 && fit.scale > 0.0 && shape.is_finite()).then_some(fit)
    }

    /// The logarithm of how likely it gives these values.
    pub fn likelihood(&self, excesses: &[f64]) -> f64 {
        let one = |y: &f64| match self.shape.abs() < NO_SHAPE {
            true => -y / self.scale,
            false => -(1.0 / self.shape + 1.0) * (self.shape * y / self.scale).ln_1p(),
        };
        excesses.iter().map(one).sum::<f64>() - excesses.len() as f64 * self.scale.ln()
    }

    /// The probability of a value above `y`.
    pub fn beyond(&self, y: f64) -> f64 {
        match self.shape.abs() < NO_SHAPE {
            true => (-y / self.scale).exp(),
            false => (1.0 + self.shape * y / self.scale).max(0.0).powf(-1.0 / self.shape),
        }
    }

    /// The value that is exceeded with probability `p`.
    pub fn exceeded_with(&self, p: f64) -> f64 {
        self.scale * stretch(self.shape, p)
    }

    /// The values that the same data allow for what is exceeded with probability `p` end here, with a confidence of
    /// 95 % on this one side (profile likelihood, Coles 2001, 2.6.6). `None`: they do not end.
    pub fn upper(&self, excesses: &[f64], p: f64) -> Option<f64> {
        // Half of the 90th percentile of chi-squared with one degree of freedom.
        const DROP: f64 = 2.705_543_454_095_404 / 2.0;
        let most = self.likelihood(excesses);
        let estimate = self.exceeded_with(p);
        let profile = |level: f64| {
            let of = |shape: f64| Pareto { shape, scale: level / stretch(shape, p) }.likelihood(excesses);
            let grid: Vec<f64> = (0..=60).map(|at| -0.99 + 0.05 * f64::from(at)).collect();
            let shape = peak_of_grid(&grid, |shape| some(of(shape)));
            some(of(shape))
        };
        let mut high = estimate;
        for _ in 0..40 {
            high *= 2.0;
            let fallen = most - profile(high);
            if fallen > DROP {
                return crossing(estimate, high, |level| most - profile(level) - DROP);
            }
        }
        None
    }

    /// The same without an end: an exponential tail where it has one.
    pub(super) fn endless(self) -> Self {
        Self { shape: self.shape.max(0.0), ..self }
    }

    /// Anderson and Darling's distance between it and sorted values: it weighs the tails.
    pub fn distance(&self, sorted: &[f64]) -> f64 {
        let uniform: Vec<f64> = sorted.iter().map(|y| 1.0 - self.beyond(*y)).collect();
        anderson_darling(&uniform)
    }

    /// A value of it, by a uniform number between 0 and 1.
    pub(super) fn draw(&self, uniform: f64) -> f64 {
        self.exceeded_with(1.0 - uniform)
    }
}

/// What is exceeded with probability `p`, in units of the scale.
fn stretch(shape: f64, p: f64) -> f64 {
    match shape.abs() < NO_SHAPE {
        true => -p.ln(),
        false => (-shape * p.ln()).exp_m1() / shape,
    }
}

fn some(value: f64) -> f64 {
    if value.is_nan() { f64::NEG_INFINITY } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_fitted() {
        let mut random = fastrand::Rng::with_seed(7);
        for shape in [-0.3, 0.0, 0.2, 0.5] {
            let truth = Pareto { shape, scale: 10.0 };
            let drawn: Vec<f64> = (0..20_000).map(|_| truth.draw(random.f64())).collect();
            let fit = Pareto::fit(&drawn).expect("a fit");
            assert!(
                (fit.shape - shape).abs() < 0.03 && (fit.scale - 10.0).abs() < 0.4,
                "{fit:?} of {truth:?}"
            );
            let far = fit.exceeded_with(1e-6);
            assert!((fit.beyond(far) / 1e-6 - 1.0).abs() < 1e-6);
            assert!(fit.upper(&drawn[..2000], 1e-4).is_some_and(|upper| upper > fit.exceeded_with(1e-3)));
        }
    }

    #[test]
    fn too_little_has_no_fit() {
        assert_eq!(Pareto::fit(&[]), None);
        assert_eq!(Pareto::fit(&[1.0]), None);
        assert_eq!(Pareto::fit(&[2.0, 2.0]), None);
        assert_eq!(Pareto::fit(&[0.0, 2.0]), None);
    }
}
