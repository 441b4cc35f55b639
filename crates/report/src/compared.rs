//! What `whylate compare` renders, and the words its renderers share.

use crate::words;
use whylate_base::Ns;
use whylate_investigate::compare::{Comparison, GateAnswer, Judged, Verdict};
use whylate_stats::Claim;

/// Runs side by side, with what was asked of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The runs; the first is what the others are compared with.
    pub comparison: Comparison,
    /// The conditions that some of them had to meet.
    pub gates: Vec<Gated>,
    /// What some of them are to show.
    pub claims: Vec<Claimed>,
}

/// A condition, and whether a run meets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated {
    /// Which of the runs.
    pub run: usize,
    /// The answer.
    pub judged: Judged,
}

/// A claim, and what a run says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// Which of the runs.
    pub run: usize,
    /// The answer.
    pub claim: Claim,
}

/// How far a claim is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// By the samples alone.
    Measured,
    /// By the fit of the tail only.
    Fitted,
    /// Not.
    No,
}

impl Compared {
    /// What a reader calls a run.
    pub(crate) fn label(&self, run: usize) -> String {
        self.comparison.runs.get(run).map_or_else(String::new, |run| words::clean(&run.label))
    }

    /// The answer in a line: of the pairs, or else of the gates, or else of the claims.
    pub(crate) fn title(&self) -> String {
        let pairs = self.comparison.pairs.iter().enumerate();
        let pairs: Vec<String> = pairs.map(|(at, pair)| self.verdict(at + 1, pair.verdict)).collect();
        let missed =
            self.gates.iter().filter(|gated| !matches!(gated.judged.answer, GateAnswer::Met(_))).count();
        let gates = match (self.gates.len(), missed) {
            (0, _) => None,
            (1, 0) => Some("The gate is met".to_owned()),
            (_, 0) => Some("All gates are met".to_owned()),
            (all, missed) => Some(format!("{missed} of {} not met", words::plural(all as u64, "gate"))),
        };
        let mut all: Vec<String> = pairs.into_iter().chain(gates).collect();
        if all.is_empty() {
            all.extend(self.claims.iter().map(|claimed| claim_answer(&claimed.claim)));
        }
        all.join(". ")
    }

    /// A pair's verdict in a sentence.
    pub(crate) fn verdict(&self, run: usize, verdict: Verdict) -> String {
        let (first, own) = (self.label(0), self.label(run));
        match verdict {
            Verdict::Better => format!("{own} is better than {first}"),
            Verdict::Worse => format!("{own} is worse than {first}"),
            Verdict::Mixed => format!("{own} is better than {first} in some things, and worse in others"),
            Verdict::Same => format!("{own} differs from {first} by no more than chance"),
            Verdict::CannotTell => format!("{own} cannot be compared with {first}"),
        }
    }

    /// What a claim lacks, in sentences, the answer first.
    pub(crate) fn claim(&self, claimed: &Claimed) -> Vec<String> {
        let claim = &claimed.claim;
        let rate = self.comparison.runs.get(claimed.run).and_then(|run| run.rate());
        let mut all = vec![claim_answer(claim)];
        let later = match claim.exceeded {
            0 => "none".to_owned(),
            exceeded => words::count(exceeded),
        };
        let samples = words::plural(claim.samples, "sample");
        all.push(format!(
            "later, of {samples}: {later}; with 95 % that is at most {:.1e} of the time",
            claim.at_most
        ));
        // What was shown to be wrong is not to be measured for longer.
        if let Some(more) = claim.more.filter(|_| !is_refuted(claim)) {
            let time =
                rate.filter(|rate| *rate > 0.0).map(|rate| format!("{} more, ", long(more as f64 / rate)));
            all.push(format!(
                "for the samples alone to carry it, measure {}{} without one that is later",
                time.unwrap_or_default(),
                words::plural(more, "sample")
            ));
        }
        all.push(match &claim.fitted {
            Err(refusal) => format!("no tail is fitted: {refusal}"),
            Ok(None) => "the fitted tail leaves room for any latency at that probability".to_owned(),
            Ok(Some(upper)) => {
                format!("the fitted tail leaves room for {upper} at that probability, with 95 %")
            }
        });
        all
    }
}

/// How far it is carried.
pub(crate) fn carried(claim: &Claim) -> Carried {
    match (claim.is_measured(), claim.is_fitted()) {
        (true, _) => Carried::Measured,
        (false, true) => Carried::Fitted,
        (false, false) => Carried::No,
    }
}

/// True where more samples were later than the claim allows.
fn is_refuted(claim: &Claim) -> bool {
    claim.exceeded as f64 > claim.probability * claim.samples as f64
}

fn claim_answer(claim: &Claim) -> String {
    let what = format!("later than {} at most {:e} of the time", claim.bound, claim.probability);
    match carried(claim) {
        Carried::Measured => format!("{what}: measured"),
        Carried::Fitted => format!("{what}: by the fitted tail only"),
        Carried::No if is_refuted(claim) => {
            format!("{what}: no, it was later more often")
        }
        Carried::No => format!("{what}: cannot be claimed yet"),
    }
}

/// The answer to a gate in a few words, and whether it is met.
pub(crate) fn gate(judged: &Judged) -> (String, Option<bool>) {
    let gate = &judged.gate;
    match &judged.answer {
        GateAnswer::Met(worst) => (format!("{gate} is met, with {worst}"), Some(true)),
        GateAnswer::Missed { thread, value } => {
            (format!("{gate} is missed: {value} ({})", words::clean(thread)), Some(false))
        }
        GateAnswer::CannotTell(why) => (format!("{gate}: cannot tell, {}", words::clean(why)), None),
    }
}

/// A long time in the unit that fits: `14 min`, `3.2 h`, `12 days`.
fn long(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{:.0} s", seconds.ceil()),
        ..7_200.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        ..172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        ..63_072_000.0 => format!("{:.1} days", seconds / 86_400.0),
        _ => format!("{:.1} years", seconds / 31_536_000.0),
    }
}

/// With its sign, where it has one.
pub(crate) fn signed(ns: Ns) -> String {
    if ns > Ns::ZERO { format!("+{ns}") } else { ns.to_string() }
}

/// A number of a run that may not be known.
pub(crate) fn known(time: Option<Ns>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_have_a_unit_that_fits() {
        assert_eq!(
            [1.2, 840.0, 11_520.0, 1_036_800.0, 1e9].map(long),
            ["2 s", "14 min", "3.2 h", "12.0 days", "31.7 years"]
        );
    }
}
