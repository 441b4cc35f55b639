//! `whylate compare`

mod benches;
mod kinds;
mod sides;
mod tables;

use super::{parts, runs};
use crate::args::{CompareArgs, FailOnWorse};
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::{Result, bail};
use kinds::Kinds;
use sides::Sides;
use whylate_investigate::compare::{Comparison, GateAnswer, RunVerdict, compare_pairs};
use whylate_investigate::measure::{Claimed, Wanted};
use whylate_report::compare::{Claiming, Compared, Gated};

pub(crate) fn run(args: &CompareArgs) -> Result<ExitStatus> {
    if let Some(directory) = &args.tables {
        return tables::compare(args, directory);
    }
    let Sides { files, pairs } = sides::of(&runs::expanded(args.files.clone())?, args.baseline.as_deref())?;
    if let Some(status) = benches::compare(args, &files)? {
        return Ok(status);
    }
    let destination = Destination::of::<Compared>(&args.output, &files)?;
    let Kinds { runs, pairs } = kinds::of(runs::read_each(&files)?, &pairs)?;
    let pairs = parts::pairs(runs.len(), &pairs, args.cpus.len());
    let runs = parts::of_cpus(runs, &args.cpus)?;
    // Advice is for a file that is a measurement.
    let is_one = files.len() == 1 && args.cpus.len() < 2;
    if is_one && args.gate.is_empty() && args.claims.is_empty() {
        bail!(
            "one measurement alone cannot be compared: name another one, ask something with --gate or --claim, or give \
             --cpus twice to compare its CPUs"
        );
    }
    let compared = asked(compare_pairs(runs, &pairs), args);
    destination.write(&compared)?;
    Ok(outcome(&compared, args.fail_on))
}

fn asked(comparison: Comparison, args: &CompareArgs) -> Compared {
    let runs = || comparison.runs.iter().enumerate();
    // What others are to be better than need not meet what they have to.
    let gates = runs().filter(|(at, _)| !comparison.is_baseline(*at)).flat_map(|(at, run)| {
        args.gate
            .iter()
            .flat_map(|list| &list.0)
            .map(move |gate| Gated { run: at, judged: gate.judge(&run.run) })
    });
    let gates = gates.collect();
    let claims = runs().flat_map(|(at, run)| {
        args.claims.iter().map(move |wanted| {
            let wanted = Wanted { assumes_no_rarer_cause: args.assume_no_rarer_cause, ..*wanted };
            Claiming { run: at, claimed: Claimed::of(run, wanted) }
        })
    });
    let claims = claims.collect();
    Compared { comparison, gates, claims }
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
    // As with gates, what others are compared with need not carry a claim.
    let claims = compared.claims.iter().filter(|claiming| !compared.comparison.is_baseline(claiming.run));
    claims.fold(outcome, |outcome, claiming| outcome.and(ExitStatus::of_claim(Some(claiming.claimed.answer))))
}
