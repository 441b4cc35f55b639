//! A claim, "later than this at most this often", and whether the samples support it.

use crate::compare::Prepared;
use std::str::FromStr;
use whylate_base::{Ns, parse_duration};
use whylate_stats::{Claim, ClaimStatus};

/// "A sample is later than `bound` with at most this probability."
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// The latency.
    pub bound: Ns,
    /// The probability, between 0 and 1.
    pub probability: f64,
    /// True where the user states that no cause exists that is rarer than the samples can show. No fit can see one.
    pub assumes_no_rarer_cause: bool,
}

/// Why that is no claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a claim: {why}; write LATENCY@PROBABILITY, such as 100us@1e-9")]
pub struct WantedError {
    text: String,
    why: String,
}

impl FromStr for Wanted {
    type Err = WantedError;

    fn from_str(text: &str) -> Result<Wanted, WantedError> {
        let wrong = |why: &str| WantedError { text: text.to_owned(), why: why.to_owned() };
        let (bound, probability) = text.split_once('@').ok_or_else(|| wrong("there is no @ in it"))?;
        let bound = parse_duration(bound.trim()).map_err(|error| wrong(&error.to_string()))?;
        let probability: f64 =
            probability.trim().parse().map_err(|_| wrong("the probability is not a number"))?;
        if bound <= Ns::ZERO {
            return Err(wrong("the latency is not above 0"));
        }
        // With less there are not as many samples in the world.
        if !(1e-15..1.0).contains(&probability) {
            return Err(wrong("the probability is not between 1e-15 and 1"));
        }
        Ok(Wanted { bound, probability, assumes_no_rarer_cause: false })
    }
}

/// A claim and its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The claim with its counts.
    pub claim: Claim,
    /// As of [`Wanted::assumes_no_rarer_cause`].
    pub assumes_no_rarer_cause: bool,
    /// Whether the samples support it.
    pub answer: ClaimStatus,
    /// For how much longer to measure, with not one sample later, until the samples alone support it; `None`: no
    /// longer, or more samples do not help.
    pub longer: Option<Ns>,
}

impl Claimed {
    /// Compares a claim with a run's samples, all threads together.
    pub fn of(run: &Prepared, wanted: Wanted) -> Claimed {
        let together = run.together();
        let claim =
            Claim::of(&together.measured.histogram, together.tail(), wanted.bound, wanted.probability);
        let answer = claim.status(wanted.assumes_no_rarer_cause);
        let more = claim.more.filter(|_| answer != ClaimStatus::Contradicted);
        let longer = more.zip(run.run.rate().filter(|rate| *rate > 0.0)).map(|(more, rate)| {
            // Years are as good as for ever.
            Ns((more as f64 / rate * 1e9).ceil().min(i64::MAX as f64) as i64)
        });
        Claimed { claim, assumes_no_rarer_cause: wanted.assumes_no_rarer_cause, answer, longer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_stats::{Histogram, Measured, Run};

    #[test]
    fn a_claim_is_a_latency_and_a_probability() {
        let wanted: Wanted = "100us@1e-9".parse().expect("a claim");
        assert_eq!((wanted.bound, wanted.probability), (Ns::from_us(100), 1e-9));
        assert!(!wanted.assumes_no_rarer_cause);
        for wrong in [
            "100us",
            "@1e-9",
            "100us@",
            "0@0.1",
            "100us@0",
            "100us@1",
            "100us@nan",
            "100us@-1",
            "x@0.1",
            "1us@1e-300",
        ] {
            assert!(wrong.parse::<Wanted>().is_err(), "{wrong}");
        }
    }

    fn claimed(samples: impl Iterator<Item = i64>, wanted: &str) -> Claimed {
        let histogram: Histogram = samples.map(Ns).collect();
        let threads = vec![Measured { histogram, ..Measured::default() }];
        let run = Run { elapsed: Some(Ns::from_secs(10)), threads, ..Run::default() };
        Claimed::of(&Prepared::of(run), wanted.parse().expect("a claim"))
    }

    #[test]
    fn what_is_missing_is_told_in_time() {
        let few = |wanted| {
            let claimed = claimed((0..10_000).map(|at| 5_000 + at % 1_000), wanted);
            (claimed.answer, claimed.longer)
        };
        assert_eq!(few("10us@1e-3"), (ClaimStatus::Measured, None));
        // 2,995,732,272 samples (the rule of three), of which there are 10,000, at 1,000 a second.
        let (answer, longer) = few("10us@1e-9");
        assert_eq!(answer, ClaimStatus::NotYet);
        let days = longer.expect("a time").0 as f64 / 86_400e9;
        assert!((34.6..34.8).contains(&days), "{days}");
        assert_eq!(few("5500ns@1e-3"), (ClaimStatus::Contradicted, None));
    }

    #[test]
    fn a_tail_that_is_of_one_kind_carries_a_claim() {
        let mut random = fastrand::Rng::with_seed(7);
        let samples = (0..200_000).map(|_| (2_000.0 - 1_000.0 * (1.0 - random.f64()).ln()) as i64);
        let claimed = claimed(samples, "1ms@1e-9");
        assert_eq!(claimed.answer, ClaimStatus::NeedsAssumption, "{claimed:?}");
        assert!(claimed.longer.is_some());
    }
}
