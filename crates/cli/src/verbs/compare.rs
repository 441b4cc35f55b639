//! `whylate compare`

use super::runs;
use crate::args::{CompareArgs, FailOnWorse};
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Result, bail};
use std::path::PathBuf;
use whylate_investigate::compare::{GateAnswer, Verdict, compare};
use whylate_report::{Claimed, Compared, Gated, html, json, svg, terminal};
use whylate_stats::{Claim, Run};

pub(crate) fn run(args: &CompareArgs) -> Result<Outcome> {
    let files: Vec<PathBuf> = args.baseline.iter().chain(&args.files).cloned().collect();
    if files.len() == 1 && args.gate.is_empty() && args.claims.is_empty() {
        bail!(
            "one measurement alone cannot be compared: name another one, or ask something with --gate or --claim"
        );
    }
    if let Some(page) = &args.page {
        files.iter().try_for_each(|file| output::spare(file, page))?;
    }
    let compared = asked(runs::read(&files)?, args);
    if let Some(path) = &args.page {
        output::write_page(path, || html::compared(&compared), || svg::compared(&compared))?;
    }
    if args.json {
        output::print_json(&json::compared(&compared))?;
    } else {
        output::print(&terminal::compared(&compared, &output::style()))?;
    }
    Ok(outcome(&compared, args.fail_on))
}

fn asked(runs: Vec<Run>, args: &CompareArgs) -> Compared {
    // The first of several is what the others are to be better than: it need not meet what they have to.
    let judged = runs.iter().enumerate().skip(usize::from(runs.len() > 1));
    let gates = judged
        .flat_map(|(at, run)| args.gate.iter().map(move |gate| Gated { run: at, judged: gate.judge(run) }));
    let gates = gates.collect();
    let claims = runs.iter().enumerate().flat_map(|(at, run)| {
        let (all, maxima) = (run.all(), run.maxima());
        let claim = |bound: &crate::args::Bound| Claimed {
            run: at,
            claim: Claim::of(&all, maxima.as_ref(), bound.latency, bound.probability),
        };
        args.claims.iter().map(claim).collect::<Vec<Claimed>>()
    });
    let claims = claims.collect();
    Compared { comparison: compare(runs), gates, claims }
}

/// Found where something is worse or missed, whatever else cannot be told.
fn outcome(compared: &Compared, fail_on: FailOnWorse) -> Outcome {
    let verdicts = || compared.comparison.pairs.iter().map(|pair| pair.verdict);
    let answers = || compared.gates.iter().map(|gated| &gated.judged.answer);
    let is_worse = |verdict: Verdict| match fail_on {
        FailOnWorse::Mixed => matches!(verdict, Verdict::Worse | Verdict::Mixed),
        FailOnWorse::Worse => verdict == Verdict::Worse,
        FailOnWorse::Never => false,
    };
    if verdicts().any(is_worse) || answers().any(|answer| matches!(answer, GateAnswer::Missed { .. })) {
        return Outcome::Found;
    }
    let unknown = answers().any(|answer| matches!(answer, GateAnswer::CannotTell(_)))
        || verdicts().any(|verdict| verdict == Verdict::CannotTell);
    if unknown { Outcome::CannotTell } else { Outcome::Done }
}
