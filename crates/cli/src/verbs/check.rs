//! `whylate check`

use crate::args::CheckArgs;
use crate::exit_status::ExitStatus;
use crate::output;
use crate::report::Destination;
use anyhow::{Result, bail};
use whylate_base::Severity;
use whylate_checks::{CheckOptions, CheckReport, RULES, Selection};
use whylate_host::{FsRoot, Snapshot};
use whylate_report::check::Checked;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitStatus> {
    if let Some(code) = &args.explain {
        return print_page(code);
    }
    let selection = Selection { only: args.only.clone(), skip: args.skip.clone() };
    if let Some(code) = selection.unknown().next() {
        bail!(no_rule(code));
    }
    let destination = Destination::of::<Checked<'_>>(&args.output, &[])?;
    let host = Snapshot::read(&FsRoot::open(&args.root)?);
    if let (Some(asked), Some(possible)) = (&args.cpus, host.cpus.possible.known())
        && let Some(cpu) = asked.iter().find(|&cpu| !possible.contains(cpu))
    {
        bail!("--cpus names CPU {cpu}, and the machine has CPUs {possible}");
    }
    let ask = CheckOptions {
        profile: args.profile,
        cpus: args.cpus.clone(),
        priority: args.priority,
        user: args.user.clone(),
    };
    let report = whylate_checks::check(&host, &ask, &selection);
    let fail_on = args.fail_on.into();
    destination.write(&Checked { report: &report, fail_on })?;
    Ok(outcome(&report, fail_on))
}

/// A failed check outranks one that cannot tell; neither counts below the threshold.
fn outcome(report: &CheckReport, fail_on: Severity) -> ExitStatus {
    let grave = || report.answers.iter().filter(|answered| answered.severity() >= fail_on);
    if grave().any(|answered| answered.failed()) {
        ExitStatus::Found
    } else if grave().any(|answered| answered.verdict.is_err()) {
        ExitStatus::CannotTell
    } else {
        ExitStatus::Done
    }
}

fn print_page(code: &str) -> Result<ExitStatus> {
    if code == "list" {
        let list: String = RULES.iter().map(|rule| format!("{}\n", rule.code)).collect();
        output::print(&list)?;
    } else if let Some(rule) = whylate_checks::explain(code) {
        output::print(rule.page)?;
    } else {
        bail!(no_rule(code));
    }
    Ok(ExitStatus::Done)
}

fn no_rule(code: &str) -> String {
    format!("`{code}` is not a rule; `whylate check --explain list` names them all")
}
