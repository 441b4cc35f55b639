//! `whylate check`

use crate::args::{CheckArgs, CheckFormat};
use crate::outcome::Outcome;
use crate::output::{self, say};
use anyhow::{Context, Result, bail};
use whylate_base::Severity;
use whylate_checks::{CheckOptions, RULES, Report, Selection};
use whylate_host::{Snapshot, Tree};
use whylate_report::{Style, check};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome> {
    if let Some(code) = &args.explain {
        return print_page(code);
    }
    let selection = Selection { only: args.only.clone(), skip: args.skip.clone() };
    if let Some(code) = selection.unknown().next() {
        bail!(no_rule(code));
    }
    let endings = ".html, .sarif, .xml, .md, .json or .txt";
    let file = output::file_by_name(args.output.as_deref(), CheckFormat::of_file, endings)?;
    let host = Snapshot::read(&Tree::open(&args.root)?);
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
    output::print(&rendered(&report, args.format(), fail_on, &output::style())?)?;
    if let Some((path, format)) = file {
        let text = rendered(&report, format, fail_on, &Style::default())?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say!("report: {}", path.display());
    }
    Ok(outcome(&report, fail_on))
}

fn rendered(report: &Report, format: CheckFormat, fail_on: Severity, style: &Style) -> Result<String> {
    let pretty = |document| serde_json::to_string_pretty(&document).map(|text| text + "\n");
    Ok(match format {
        CheckFormat::Text => check::terminal::render(report, style),
        CheckFormat::Json => pretty(check::json::render(report))?,
        CheckFormat::Sarif => pretty(check::sarif::render(report))?,
        CheckFormat::Junit => check::junit::render(report, fail_on),
        CheckFormat::Markdown => check::markdown::render(report),
        CheckFormat::Html => check::html::render(report),
    })
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
