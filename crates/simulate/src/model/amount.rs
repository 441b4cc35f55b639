//! An amount of time that differs from job to job.

use whylate_base::Ns;

/// How long a step takes, or how far two arrivals are apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// Always the same.
    Fixed(Ns),
    /// Anything between the two, all equally likely.
    Uniform(Ns, Ns),
    /// One of some values, each with its weight.
    Weighted(Vec<(Ns, f64)>),
    /// The values one after the other, from the start again after the last.
    Sequence(Vec<Ns>),
    /// It never ends.
    Forever,
}

impl Amount {
    /// The largest it can be; `None` where it never ends.
    pub fn most(&self) -> Option<Ns> {
        match self {
            Amount::Fixed(value) => Some(*value),
            Amount::Uniform(_, most) => Some(*most),
            Amount::Weighted(values) => {
                Some(values.iter().map(|&(value, _)| value).max().unwrap_or(Ns::ZERO))
            }
            Amount::Sequence(values) => Some(values.iter().copied().max().unwrap_or(Ns::ZERO)),
            Amount::Forever => None,
        }
    }

    /// The smallest it can be; `None` where it never ends.
    pub fn least(&self) -> Option<Ns> {
        match self {
            Amount::Fixed(value) => Some(*value),
            Amount::Uniform(least, _) => Some(*least),
            Amount::Weighted(values) => {
                Some(values.iter().map(|&(value, _)| value).min().unwrap_or(Ns::ZERO))
            }
            Amount::Sequence(values) => Some(values.iter().copied().min().unwrap_or(Ns::ZERO)),
            Amount::Forever => None,
        }
    }

    /// Its mean; `None` where it never ends.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Amount::Fixed(value) => Some(value.0 as f64),
            Amount::Uniform(least, most) => Some((least.0 as f64 + most.0 as f64) / 2.0),
            Amount::Weighted(values) => {
                let weights: f64 = values.iter().map(|&(_, weight)| weight).sum();
                Some(values.iter().map(|&(value, weight)| value.0 as f64 * weight).sum::<f64>() / weights)
            }
            Amount::Sequence(values) => {
                let sum: f64 = values.iter().map(|value| value.0 as f64).sum();
                Some(if values.is_empty() { 0.0 } else { sum / values.len() as f64 })
            }
            Amount::Forever => None,
        }
    }

    /// The value of the `nth` job; `None` where it never ends.
    pub(crate) fn draw(&self, random: &mut fastrand::Rng, nth: u64) -> Option<Ns> {
        match self {
            Amount::Fixed(value) => Some(*value),
            Amount::Uniform(least, most) => Some(Ns(random.i64(least.0..=most.0.max(least.0)))),
            Amount::Weighted(values) => {
                let weights: f64 = values.iter().map(|&(_, weight)| weight).sum();
                let mut at = random.f64() * weights;
                for &(value, weight) in values {
                    at -= weight;
                    if at < 0.0 {
                        return Some(value);
                    }
                }
                values.last().map(|&(value, _)| value)
            }
            Amount::Sequence(values) => {
                let at = (nth as usize).checked_rem(values.len())?;
                values.get(at).copied()
            }
            Amount::Forever => None,
        }
    }

    /// The same, `factor` times as long.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Amount {
        let scale = |value: Ns| Ns((value.0 as f64 * factor).round() as i64);
        match self {
            Amount::Fixed(value) => Amount::Fixed(scale(*value)),
            Amount::Uniform(least, most) => Amount::Uniform(scale(*least), scale(*most)),
            Amount::Weighted(values) => {
                Amount::Weighted(values.iter().map(|&(value, weight)| (scale(value), weight)).collect())
            }
            Amount::Sequence(values) => Amount::Sequence(values.iter().copied().map(scale).collect()),
            Amount::Forever => Amount::Forever,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_stays_between_least_and_most() {
        let mut random = fastrand::Rng::with_seed(7);
        let values = vec![(Ns(5), 1.0), (Ns(9), 3.0)];
        for amount in [
            Amount::Fixed(Ns(4)),
            Amount::Uniform(Ns(2), Ns(8)),
            Amount::Weighted(values),
            Amount::Sequence(vec![Ns(1), Ns(3)]),
        ] {
            for nth in 0..200 {
                let drawn = amount.draw(&mut random, nth);
                assert!(drawn >= amount.least() && drawn <= amount.most(), "{amount:?}");
            }
        }
        let sequence = Amount::Sequence(vec![Ns(1), Ns(3)]);
        assert_eq!(
            (0..3).map(|nth| sequence.draw(&mut random, nth)).collect::<Vec<_>>(),
            [Some(Ns(1)), Some(Ns(3)), Some(Ns(1))]
        );
        assert_eq!(Amount::Forever.draw(&mut random, 0), None);
        assert_eq!(Amount::Weighted(vec![(Ns(4), 1.0), (Ns(8), 3.0)]).mean(), Some(7.0));
    }
}
