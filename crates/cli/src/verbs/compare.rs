//! `whylate compare`

use super::runs;
use crate::args::{CompareArgs, FailOnWorse};
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::{Result, bail};
use std::path::PathBuf;
use whylate_investigate::compare::{GateAnswer, Prepared, RunVerdict, compare};
use whylate_investigate::measure::{Claimed, Wanted};
use whylate_report::compare::{Claiming, Compared, Gated};

pub(crate) fn run(args: &CompareArgs) -> Result<ExitStatus> {
    let files: Vec<PathBuf> = args.baseline.iter().chain(&args.files).cloned().collect();
    if files.len() == 1 && args.gate.is_empty() && args.claims.is_empty() {
        bail!(
            "one measurement alone cannot be compared: name another one, or ask something with --gate or --claim"
        );
    }
    let destination = Destination::of::<Compared>(&args.output, &files)?;
    let compared = asked(runs::read(&files)?, args);
    destination.write(&compared)?;
    Ok(outcome(&compared, args.fail_on))
}

fn asked(runs: Vec<Prepared>, args: &CompareArgs) -> Compared {
    // The first of several is what the others are to be better than: it need not meet what they have to.
    let judged = runs.iter().enumerate().skip(usize::from(runs.len() > 1));
    let gates = judged.flat_map(|(at, run)| {
        args.gate.iter().map(move |gate| Gated { run: at, judged: gate.judge(&run.run) })
    });
    let gates = gates.collect();
    let claims = runs.iter().enumerate().flat_map(|(at, run)| {
        args.claims.iter().map(move |wanted| {
            let wanted = Wanted { assumes_no_rarer_cause: args.assume_no_rarer_cause, ..*wanted };
            Claiming { run: at, claimed: Claimed::of(run, wanted) }
        })
    });
    let claims = claims.collect();
    Compared { comparison: compare(runs), gates, claims }
}

/// Found where something is worse or missed, even where other answers are unknown.
fn outcome(compared: &Compared, fail_on: FailOnWorse) -> ExitStatus {
    let verdicts = || compared.comparison.pairs.iter().map(|pair| pair.verdict);
    let answers = || compared.gates.iter().map(|gated| &gated.judged.answer);
    let is_worse = |verdict: RunVerdict| match fail_on {
        FailOnWorse::Mixed => matches!(verdict, RunVerdict::Worse | RunVerdict::Mixed),
        FailOnWorse::Worse => verdict == RunVerdict::Worse,
        FailOnWorse::Never => false,
    };
    if verdicts().any(is_worse) || answers().any(|answer| matches!(answer, GateAnswer::Missed { .. })) {
        return ExitStatus::Found;
    }
    let unknown = answers().any(|answer| matches!(answer, GateAnswer::CannotTell(_)))
        || verdicts().any(|verdict| verdict == RunVerdict::CannotTell);
    let outcome = if unknown { ExitStatus::CannotTell } else { ExitStatus::Done };
    // As with gates, the baseline of several runs need not carry a claim.
    let baseline = compared.comparison.runs.len() > 1;
    let claims = compared.claims.iter().filter(|claiming| !baseline || claiming.run > 0);
    claims.fold(outcome, |outcome, claiming| outcome.and(ExitStatus::of_claim(Some(claiming.claimed.answer))))
}
