//! The report of a claim: the answer, then what it rests on.

use crate::words;
use whylate_base::Ns;
use whylate_investigate::measure::Claimed;
use whylate_stats::ClaimStatus;

/// In sentences, the answer first.
pub(crate) fn sentences(claimed: &Claimed) -> Vec<String> {
    let claim = &claimed.claim;
    let later = match claim.exceeded {
        0 => "none".to_owned(),
        exceeded => words::count(exceeded),
    };
    let mut all = vec![
        answer(claimed),
        format!(
            "later, of {}: {later}; with 95 % that is at most {:.1e} of all",
            words::plural(claim.samples, "sample"),
            claim.at_most
        ),
    ];
    // What was shown to be wrong is not to be measured for longer.
    if let Some(more) = claim.more.filter(|_| claimed.answer != ClaimStatus::Contradicted) {
        let time = claimed.longer.map(|longer| format!("{} more, ", long(longer))).unwrap_or_default();
        let samples = words::plural(more, "sample");
        all.push(format!(
            "for the samples alone to carry it, measure {time}{samples} without one that is later"
        ));
    }
    all.push(match &claim.fitted {
        Err(refusal) => format!("no tail is fitted: {refusal}"),
        Ok(None) => "the fitted tail leaves room for any latency at that probability".to_owned(),
        Ok(Some(upper)) => format!("the fitted tail leaves room for {upper} at that probability, with 95 %"),
    });
    if claim.fitted.is_ok() {
        let assumed = match claimed.answer {
            ClaimStatus::NeedsAssumption => {
                ". If you know that there is none, state it: --assume-no-rarer-cause"
            }
            ClaimStatus::Fitted => ". That there is none is your assumption (--assume-no-rarer-cause)",
            ClaimStatus::Measured | ClaimStatus::Contradicted | ClaimStatus::NotYet => "",
        };
        all.push(format!("{}{assumed}", unseen(claim.unseen_at_most())));
    }
    all
}

/// The claim and its answer in a line.
pub(crate) fn answer(claimed: &Claimed) -> String {
    let answer = match claimed.answer {
        ClaimStatus::Measured => "measured",
        ClaimStatus::Fitted => "by the fitted tail only, if no rarer cause exists, as is assumed",
        ClaimStatus::NeedsAssumption => {
            "cannot tell: the fitted tail supports it only if no rarer cause exists"
        }
        ClaimStatus::Contradicted => "no, it was later more often",
        ClaimStatus::NotYet => "cannot tell: it cannot be claimed yet",
    };
    let (bound, probability) = (claimed.claim.bound, claimed.claim.probability);
    format!("later than {bound} in at most {probability:e} of all samples: {answer}")
}

/// What no fit can show, with how rare it may be.
pub(crate) fn unseen(at_most: f64) -> String {
    format!(
        "no fit can see a cause that never struck: one that strikes up to once in {} samples may be unseen (3 / samples, \
         with 95 %)",
        words::count((1.0 / at_most.max(f64::MIN_POSITIVE)).round() as u64)
    )
}

/// A long time in the unit that fits: `14 min`, `3.2 h`, `12.0 days`.
fn long(time: Ns) -> String {
    let seconds = time.0 as f64 / 1e9;
    match seconds {
        ..120.0 => format!("{:.0} s", seconds.ceil()),
        ..7_200.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        ..172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        ..63_072_000.0 => format!("{:.1} days", seconds / 86_400.0),
        ..3_153_600_000.0 => format!("{:.1} years", seconds / 31_536_000.0),
        // Nanoseconds do not reach any farther than some of them.
        _ => "centuries".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_have_a_unit_that_fits() {
        let times = [1.2, 840.0, 11_520.0, 1_036_800.0, 1e9, 9.2e9];
        assert_eq!(
            times.map(|seconds| long(Ns((seconds * 1e9) as i64))),
            ["2 s", "14 min", "3.2 h", "12.0 days", "31.7 years", "centuries"]
        );
    }
}
