//! `whylate check`

use crate::args::CheckArgs;
use crate::outcome::Outcome;
use crate::output;
use anyhow::{Result, bail};
use whylate_base::Severity;
use whylate_checks::{Ask, RULES, Report, Selection};
use whylate_host::{Snapshot, Tree};
use whylate_report::{json, terminal};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome> {
    if let Some(code) = &args.explain {
        return print_page(code);
    }
    let selection = Selection { only: args.only.clone(), skip: args.skip.clone() };
    if let Some(code) = selection.unknown().next() {
        bail!(no_rule(code));
    }
    let host = Snapshot::read(&Tree::open(&args.root)?);
    let ask = Ask {
        profile: args.profile,
        cpus: args.cpus.clone(),
        priority: args.priority,
        user: args.user.clone(),
    };
    let report = whylate_checks::check(&host, &ask, &selection);
    match args.json {
        true => output::print_json(&json::checked(&report))?,
        false => output::print(&terminal::checked(&report, &output::style()))?,
    }
    Ok(outcome(&report, args.fail_on.into()))
}

/// What failed counts for more than what nobody can tell; neither counts below the threshold.
fn outcome(report: &Report, fail_on: Severity) -> Outcome {
    let grave = || report.answers.iter().filter(|answered| answered.severity() >= fail_on);
    if grave().any(|answered| answered.failed()) {
        Outcome::Found
    } else if grave().any(|answered| answered.verdict.is_err()) {
        Outcome::CannotTell
    } else {
        Outcome::Done
    }
}

fn print_page(code: &str) -> Result<Outcome> {
    if code == "list" {
        let list: String = RULES.iter().map(|rule| format!("{}\n", rule.code)).collect();
        output::print(&list)?;
    } else if let Some(rule) = whylate_checks::explain(code) {
        output::print(rule.page)?;
    } else {
        bail!(no_rule(code));
    }
    Ok(Outcome::Done)
}

fn no_rule(code: &str) -> String {
    format!("`{code}` is not a rule; `whylate check --explain list` names them all")
}
