//! What may be claimed: "later than this, less often than so", and how much longer to measure for it.

use crate::compare::interval;
use crate::normal::{binomial_at_most, most_likely_rate};
use crate::{FitRefusal, Histogram, Tail};
use whylate_base::Ns;

/// What is claimed is wrong in at most this share of all such claims.
pub const DOUBT: f64 = 0.05;

/// A claim, and whether the samples support it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// A wake-up is later than this
    pub bound: Ns,
    /// with at most this probability.
    pub probability: f64,
    /// So many of the samples were later; all of the bucket that contains the bound are counted.
    pub exceeded: u64,
    /// So many were surely later.
    pub surely_exceeded: u64,
    /// So many samples there are.
    pub samples: u64,
    /// The largest probability that the samples alone, whatever their distribution, leave room for (Clopper and
    /// Pearson, 95 %).
    pub at_most: f64,
    /// Samples to be measured yet, none of them later, for the samples alone to carry the claim; `None`: none.
    pub more: Option<u64>,
    /// The estimate of the fitted tail: the upper 95 % limit of the latency at that probability; or
    /// why there is no fit.
    pub fitted: Result<Option<Ns>, FitRefusal>,
}

impl Claim {
    /// Of samples that are independent of each other, and the tail that was fitted to them.
    pub fn of(histogram: &Histogram, tail: Result<&Tail, FitRefusal>, bound: Ns, probability: f64) -> Claim {
        let (samples, exceeded) = (histogram.count(), histogram.beyond(bound));
        let needed = samples_for(exceeded, probability);
        Claim {
            bound,
            probability,
            exceeded,
            surely_exceeded: histogram.surely_beyond(bound),
            samples,
            at_most: most_likely_rate(exceeded, samples, DOUBT),
            more: needed.checked_sub(samples).filter(|more| *more > 0),
            fitted: tail.map(|tail| match tail.level(probability) {
                Some(level) => level.upper,
                // So common that it was measured.
                None => interval(histogram, 1.0 - probability).map(|(_, upper)| upper),
            }),
        }
    }

    /// True where the samples alone carry the claim.
    pub fn is_measured(&self) -> bool {
        self.more.is_none()
    }

    /// True where so many later samples are less likely than [`DOUBT`] if the claim holds.
    fn is_contradicted(&self) -> bool {
        let fewer = |later: u64| binomial_at_most(later - 1, self.samples, self.probability);
        self.surely_exceeded > 0 && 1.0 - fewer(self.surely_exceeded) < DOUBT
    }

    /// True where a fit that is not refused carries it.
    fn is_fitted(&self) -> bool {
        let seen = self.exceeded as f64 / self.samples.max(1) as f64;
        seen <= self.probability && matches!(self.fitted, Ok(Some(upper)) if upper <= self.bound)
    }

    /// Whether the samples support the claim. A fit describes the causes that struck; that there is no rarer one is an
    /// assumption, which only the user can state.
    pub fn status(&self, assumes_no_rarer_cause: bool) -> ClaimStatus {
        if self.is_measured() {
            ClaimStatus::Measured
        } else if self.is_contradicted() {
            ClaimStatus::Contradicted
        } else if self.is_fitted() && assumes_no_rarer_cause {
            ClaimStatus::Fitted
        } else if self.is_fitted() {
            ClaimStatus::NeedsAssumption
        } else {
            ClaimStatus::NotYet
        }
    }

    /// A cause that never struck in these samples may strike with this probability (95 %): some 3 / samples.
    pub fn unseen_at_most(&self) -> f64 {
        unseen_at_most(self.samples)
    }
}

/// A cause that never struck in so many samples may strike with this probability (95 %): some 3 / samples.
pub fn unseen_at_most(samples: u64) -> f64 {
    most_likely_rate(0, samples, DOUBT)
}

/// Whether the samples support a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimStatus {
    /// Yes, by the samples alone.
    Measured,
    /// Yes, by the fit of the tail and the stated assumption that no rarer cause exists.
    Fitted,
    /// Cannot tell: the fit of the tail supports it if no rarer cause exists, which is not stated.
    NeedsAssumption,
    /// No: later samples were more frequent than that.
    Contradicted,
    /// Cannot tell: it takes more samples.
    NotYet,
}

impl ClaimStatus {
    /// True where the samples carry the claim.
    pub fn is_carried(self) -> bool {
        matches!(self, ClaimStatus::Measured | ClaimStatus::Fitted)
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

    /// No fit can see a cause that never struck.
    #[test]
    fn a_fit_alone_carries_no_claim() {
        let mut random = fastrand::Rng::with_seed(7);
        let histogram: Histogram =
            (0..200_000).map(|_| Ns((2_000.0 - 1_000.0 * (1.0 - random.f64()).ln()) as i64)).collect();
        let claim = of(&histogram, Ns::from_ms(1), 1e-9);
        assert_eq!(claim.status(false), ClaimStatus::NeedsAssumption);
        assert_eq!(claim.status(true), ClaimStatus::Fitted);
        assert!((1.49e-5..1.51e-5).contains(&claim.unseen_at_most()), "{}", claim.unseen_at_most());
        assert!(claim.status(true).is_carried() && !claim.status(false).is_carried());
    }

    #[test]
    fn what_chance_explains_contradicts_nothing() {
        let of = |late: u64, probability| {
            let late = std::iter::repeat_n(Ns(50_000), late as usize);
            let histogram: Histogram = (0..10_000).map(|at| Ns(5_000 + at % 10)).chain(late).collect();
            of(&histogram, Ns(10_000), probability).status(true)
        };
        // Of 10,000 samples one is expected to be later: two are no surprise, six are.
        assert_eq!((of(2, 1e-4), of(6, 1e-4)), (ClaimStatus::NotYet, ClaimStatus::Contradicted));
        assert_eq!(of(1, 1e-9), ClaimStatus::Contradicted);
    }
}
