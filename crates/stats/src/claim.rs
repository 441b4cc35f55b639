//! What may be claimed: "later than this, less often than so", and how much longer to measure for it.

use crate::normal::most_likely_rate;
use crate::{Histogram, Refusal, Tail};
use whylate_base::Ns;

/// What is claimed is wrong in at most this share of all such claims.
pub const DOUBT: f64 = 0.05;

/// A claim, and what the samples say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// A wake-up is later than this
    pub bound: Ns,
    /// with at most this probability.
    pub probability: f64,
    /// So many of the samples were later.
    pub exceeded: u64,
    /// So many samples there are.
    pub samples: u64,
    /// The largest probability that the samples alone, whatever their distribution, leave room for (Clopper and
    /// Pearson, 95 %).
    pub at_most: f64,
    /// Samples to be measured yet, none of them later, for the samples alone to carry the claim; `None`: none.
    pub more: Option<u64>,
    /// The estimate of the fitted tail: the upper 95 % limit of the latency at that probability; or
    /// why there is no fit.
    pub fitted: Result<Option<Ns>, Refusal>,
}

impl Claim {
    /// Of samples that are independent of each other, and the tail that was fitted to them.
    pub fn of(histogram: &Histogram, tail: Result<&Tail, Refusal>, bound: Ns, probability: f64) -> Claim {
        let (samples, exceeded) = (histogram.count(), histogram.beyond(bound));
        let needed = samples_for(exceeded, probability);
        Claim {
            bound,
            probability,
            exceeded,
            samples,
            at_most: most_likely_rate(exceeded, samples, DOUBT),
            more: needed.checked_sub(samples).filter(|more| *more > 0),
            fitted: tail.map(|tail| match tail.level(probability) {
                Some(level) => level.upper,
                // So common that it was measured.
                None => histogram.percentile_bounds(1.0 - probability).map(|bounds| bounds.most),
            }),
        }
    }

    /// True where the samples alone carry the claim.
    pub fn is_measured(&self) -> bool {
        self.more.is_none()
    }

    /// True where a fit that is not refused carries it.
    pub fn is_fitted(&self) -> bool {
        matches!(self.fitted, Ok(Some(upper)) if upper <= self.bound)
    }
}

/// As many samples, `exceeded` of them later, leave room for at most this probability.
fn samples_for(exceeded: u64, probability: f64) -> u64 {
    let enough = |samples: u64| most_likely_rate(exceeded, samples, DOUBT) <= probability;
    let mut high = exceeded + 1;
    while !enough(high) {
        if high > u64::MAX / 4 {
            return u64::MAX;
        }
        high *= 2;
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_three() {
        // ln(0.05) / ln(1 - p)
        assert_eq!(samples_for(0, 1e-3), 2995);
        assert_eq!(samples_for(0, 0.05), 59);
        let billion = samples_for(0, 1e-9) as f64;
        assert!((billion / 2.995_732e9 - 1.0).abs() < 1e-4, "{billion}");
        assert!(samples_for(3, 1e-3) > 7_000);
    }

    fn of(histogram: &Histogram, bound: Ns, probability: f64) -> Claim {
        let tail = Tail::fit(histogram, None);
        Claim::of(histogram, tail.as_ref().map_err(|refusal| *refusal), bound, probability)
    }

    #[test]
    fn a_claim_says_what_is_missing() {
        let histogram: Histogram = (0..2_000).map(|at| Ns(5_000 + at % 1_000)).collect();
        let claim = of(&histogram, Ns(10_000), 1e-3);
        assert_eq!((claim.exceeded, claim.more, claim.is_measured()), (0, Some(995), false));
        let claim = of(&histogram, Ns(10_000), 2e-3);
        assert!(claim.is_measured() && claim.at_most < 2e-3);
        let claim = of(&histogram, Ns(5_499), 1e-3);
        assert_eq!(claim.exceeded, 1_000);
        assert!(!claim.is_measured() && claim.at_most > 0.5);
    }
}
