//! What lies beyond what was seen, and whether a claim holds: the fits of `whylate_stats`, of all CPUs together.

use std::str::FromStr;
use whylate_base::{Ns, parse_duration};
use whylate_stats::{Blocks, Claim, Level, Refusal, Run, Tail};

/// The probabilities that levels are given for.
pub const RARE: [f64; 2] = [1e-6, 1e-9];

/// "A wake-up is later than `bound` with at most this probability."
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// The latency.
    pub bound: Ns,
    /// The probability, between 0 and 1.
    pub probability: f64,
}

/// Why that is no claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no claim: {why}; write LATENCY@PROBABILITY, such as 100us@1e-9")]
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
            probability.trim().parse().map_err(|_| wrong("the probability is no number"))?;
        if bound <= Ns::ZERO {
            return Err(wrong("the latency is not above 0"));
        }
        // With less there are not as many samples in the world.
        if !(1e-15..1.0).contains(&probability) {
            return Err(wrong("the probability is not between 1e-15 and 1"));
        }
        Ok(Wanted { bound, probability })
    }
}

/// What the samples allow one to say beyond themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Beyond {
    /// By the samples beyond a threshold (generalised Pareto), for each of [`RARE`] in order; or why not.
    pub by_tail: Result<Vec<Option<Level>>, Refusal>,
    /// By the largest of each stretch of time (generalised extreme value).
    pub by_blocks: Result<Vec<Option<Level>>, Refusal>,
    /// What was claimed.
    pub claim: Option<Claimed>,
}

/// A claim and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// What the samples say of it.
    pub claim: Claim,
    /// How that is to be read.
    pub answer: Answer,
    /// For how much longer to measure, with not one sample later, for the samples alone to carry it; `None`: no longer,
    /// or that is no way.
    pub longer: Option<Ns>,
}

/// May it be claimed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, by the samples alone.
    Measured,
    /// Yes, by the fit of the tail.
    Fitted,
    /// No: later samples were more frequent than that.
    Contradicted,
    /// Not yet: it takes more samples.
    NotYet,
}

impl Beyond {
    /// Of a run's samples.
    pub fn of(run: &Run, wanted: Option<Wanted>) -> Beyond {
        let (all, maxima) = (run.all(), run.maxima());
        let blocks = match &maxima {
            Some(maxima) => Blocks::fit(maxima, all.count()),
            None => Err(Refusal::TooFew { what: "stretches of time", have: 0, needed: 1 }),
        };
        let claimed = |wanted: Wanted| {
            let claim = Claim::of(&all, maxima.as_ref(), wanted.bound, wanted.probability);
            Claimed::of(claim, run.rate())
        };
        Beyond {
            by_tail: Tail::fit(&all, maxima.as_ref()).map(|tail| RARE.map(|p| tail.level(p)).to_vec()),
            by_blocks: blocks.map(|blocks| RARE.map(|p| blocks.level(p)).to_vec()),
            claim: wanted.map(claimed),
        }
    }
}

impl Claimed {
    fn of(claim: Claim, rate: Option<f64>) -> Claimed {
        let seen = claim.exceeded as f64 / claim.samples.max(1) as f64;
        let answer = if claim.is_measured() {
            Answer::Measured
        } else if seen > claim.probability {
            Answer::Contradicted
        } else if claim.is_fitted() {
            Answer::Fitted
        } else {
            Answer::NotYet
        };
        let more = claim.more.filter(|_| answer != Answer::Contradicted);
        let longer = more.zip(rate.filter(|rate| *rate > 0.0)).map(|(more, rate)| {
            // Years are as good as for ever.
            Ns((more as f64 / rate * 1e9).ceil().min(i64::MAX as f64) as i64)
        });
        Claimed { claim, answer, longer }
    }

    /// The answer in a sentence.
    pub fn sentence(&self) -> String {
        let Claim { bound, probability, exceeded, samples, at_most, fitted, .. } = &self.claim;
        let what = format!("later than {bound} in at most {probability:e} of all wake-ups");
        let seen = match exceeded {
            0 => format!("none of {samples} was later"),
            1 => format!("1 of {samples} was later"),
            more => format!("{more} of {samples} were later"),
        };
        let longer = match self.longer {
            Some(longer) => {
                format!("measure {} more, with none later, for the samples alone to carry it", long(longer))
            }
            None => "it takes more samples".to_owned(),
        };
        match (self.answer, fitted) {
            (Answer::Measured, _) => {
                format!("{what}: yes, measured: {seen}, which leaves room for {at_most:.1e} (95 %)")
            }
            (Answer::Contradicted, _) => format!("{what}: no: {seen}"),
            (Answer::Fitted, Ok(Some(upper))) => format!(
                "{what}: yes, by the fit of the tail, which leaves room for {upper} (95 %); {seen}; {longer}"
            ),
            (_, Ok(Some(upper))) => format!(
                "{what}: not by what was measured: {seen}, and the fit of the tail leaves room for {upper} (95 %); {longer}"
            ),
            (_, Ok(None)) => {
                format!(
                    "{what}: not by what was measured: {seen}, and the fit of the tail gives no bound; {longer}"
                )
            }
            (_, Err(refusal)) => {
                format!("{what}: not by what was measured: {seen}; {longer}; no fit of the tail: {refusal}")
            }
        }
    }
}

/// A time to wait: `17 h`, `3 d`.
fn long(time: Ns) -> String {
    let seconds = time.0 as f64 / 1e9;
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7_200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3_600.0),
        ..63_072_000.0 => format!("{:.0} d", seconds / 86_400.0),
        _ => format!("{:.0} years", seconds / 31_557_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_stats::{Histogram, Measured};

    #[test]
    fn a_claim_is_a_latency_and_a_probability() {
        assert_eq!("100us@1e-9".parse(), Ok(Wanted { bound: Ns::from_us(100), probability: 1e-9 }));
        for wrong in
            ["100us", "@1e-9", "100us@", "0@0.1", "100us@0", "100us@1", "100us@nan", "100us@-1", "x@0.1"]
        {
            assert!(wrong.parse::<Wanted>().is_err(), "{wrong}");
        }
    }

    fn run(samples: impl Iterator<Item = i64>) -> Run {
        let histogram: Histogram = samples.map(Ns).collect();
        let threads = vec![Measured { histogram, ..Measured::default() }];
        Run { elapsed: Some(Ns::from_secs(10)), threads, ..Run::default() }
    }

    fn claimed(run: &Run, wanted: &str) -> (Answer, Option<Ns>, String) {
        let wanted: Wanted = wanted.parse().expect("a claim");
        let claimed = Beyond::of(run, Some(wanted)).claim.expect("it was claimed");
        (claimed.answer, claimed.longer, claimed.sentence())
    }

    #[test]
    fn what_is_missing_is_told_in_hours() {
        let few = run((0..10_000).map(|at| 5_000 + at % 1_000));
        let (answer, _, sentence) = claimed(&few, "10us@1e-3");
        assert_eq!(answer, Answer::Measured, "{sentence}");
        // 2,995,732,272 samples (the rule of three), of which there are 10,000, at 1,000 a second.
        let (answer, longer, sentence) = claimed(&few, "10us@1e-9");
        assert_eq!(answer, Answer::NotYet, "{sentence}");
        let days = longer.expect("a time").0 as f64 / 86_400e9;
        assert!((34.6..34.8).contains(&days), "{days}");
        assert!(
            sentence.contains("measure 35 d more") && sentence.contains("no fit of the tail"),
            "{sentence}"
        );
        let (answer, longer, sentence) = claimed(&few, "5500ns@1e-3");
        assert_eq!((answer, longer), (Answer::Contradicted, None), "{sentence}");
    }

    #[test]
    fn a_tail_that_is_of_one_kind_is_fitted() {
        let mut random = fastrand::Rng::with_seed(7);
        let long = run((0..200_000).map(|_| (2_000.0 - 1_000.0 * (1.0 - random.f64()).ln()) as i64));
        let (answer, longer, sentence) = claimed(&long, "1ms@1e-9");
        assert_eq!(answer, Answer::Fitted, "{sentence}");
        assert!(longer.is_some());
        let beyond = Beyond::of(&long, None);
        let levels = beyond.by_tail.expect("a fit");
        // -1000 ln 1e-9, and what is under it.
        assert!(
            levels[1].is_some_and(|level| (Ns(18_000)..Ns(29_000)).contains(&level.estimate)),
            "{levels:?}"
        );
        assert!(beyond.by_blocks.is_err(), "no maxima are known");
    }
}
