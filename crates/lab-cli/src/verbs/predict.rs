//! `whylate-lab predict`

use super::run::kernels;
use crate::args::PredictArgs;
use crate::beside::program;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result, bail};
use whylate_base::Ns;
use whylate_lab::Arch;
use whylate_lab_cli::matrix::Matrix;
use whylate_lab_cli::predict::{self, PredictDocument, PredictResult, PredictRuns, PredictedChange};

pub(crate) fn run(args: &PredictArgs) -> Result<ExitStatus> {
    let mut changes = predict::built_in()?;
    if !args.scenarios.is_empty() {
        changes.retain(|change| args.scenarios.contains(&change.scenario));
    }
    if changes.is_empty() {
        bail!("no change is to one of these scenarios: see --list");
    }
    if args.list {
        output::print(&list(&changes))?;
        return Ok(ExitStatus::Done);
    }
    let arch = Arch::native();
    let named = |change: &PredictedChange| [Some(change.kernel.clone()), change.after_kernel.clone()];
    let mut names: Vec<String> = changes.iter().flat_map(named).flatten().collect();
    names.sort();
    names.dedup();
    let kernels = kernels(&names, Some(arch), None)?;
    let temporary = tempfile::tempdir().context("no temporary directory")?;
    let directory = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let whylate = program(args.whylate.as_deref(), "whylate", "--whylate", arch)?;
    let injector = program(args.inject.as_deref(), "whylate-inject", "--inject", arch)?;
    let matrix = Matrix { whylate, injector, keep: None, jobs: 1 };
    let stop = signals::stop_flag()?;
    let runs = PredictRuns { changes, kernels, directory };
    let results = predict::run(&runs, &matrix, &stop, |result| message!("{}", line(result)))?;
    let document = PredictDocument::of(results);
    match args.json {
        true => output::print_json(&document.json())?,
        false => output::print(&totals(&document))?,
    }
    let total = &document.total;
    Ok(if total.no_run > 0 {
        ExitStatus::Failed
    } else if total.direction_right == total.judged {
        ExitStatus::Done
    } else {
        ExitStatus::Found
    })
}

fn list(changes: &[PredictedChange]) -> String {
    let widest = changes.iter().map(|change| change.scenario.len()).max().unwrap_or(0);
    changes
        .iter()
        .map(|change| {
            let options = change.simulate.join(" ");
            format!("{:<widest$}  {:<8}  {} ({options})\n", change.scenario, change.kernel, change.title)
        })
        .collect()
}

/// One change, as it ends.
fn line(result: &PredictResult) -> String {
    let mut text = format!("{} on {}, {}:", result.scenario, result.kernel, result.simulate.join(" "));
    if !result.note.is_empty() {
        return format!("no run: {text} {}", result.note);
    }
    for thread in &result.threads {
        let good = |good| if good { "right" } else { "WRONG" };
        text += &format!(
            "\n  {}: max {} -> predicted {}, recorded {} ({:+.1} %); direction {}, cause {}",
            thread.name,
            Ns(thread.before.max),
            Ns(thread.predicted.max),
            Ns(thread.after.max),
            100.0 * thread.max_error,
            good(thread.direction_right()),
            good(thread.cause_right())
        );
    }
    text
}

fn totals(document: &PredictDocument) -> String {
    let total = &document.total;
    format!(
        "{} changes, {} without a run: direction right {}, cause right {}; median error of p50 {:.1} %, p99 {:.1} %, max {:.1} %\n",
        total.judged,
        total.no_run,
        total.direction_right,
        total.cause_right,
        100.0 * total.p50_error,
        100.0 * total.p99_error,
        100.0 * total.max_error
    )
}
