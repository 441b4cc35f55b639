//! `whylate-lab fixes`

use super::run::{kernels, usual_jobs};
use crate::args::FixesArgs;
use crate::beside::program;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::sync::Arc;
use whylate_lab::{Arch, Kernel, Store};
use whylate_lab_cli::fixes::{self, FixEnd, FixResult, FixRow, FixRuns, FixesDocument};
use whylate_lab_cli::matrix::Matrix;
use whylate_lab_cli::scenario::{self, Scenario};

pub(crate) fn run(args: &FixesArgs) -> Result<ExitStatus> {
    let scenarios: Vec<Scenario> = match args.scenarios.as_slice() {
        [] => scenario::built_in()?,
        names => names.iter().map(|name| scenario::find(name)).collect::<Result<_, _>>()?,
    };
    // Advice for another machine cannot be followed on this one.
    let (pairs, scenarios): (Vec<Scenario>, Vec<Scenario>) =
        scenarios.into_iter().partition(|scenario| scenario.peer.is_some());
    if let (Some(pair), false) = (pairs.first(), args.scenarios.is_empty()) {
        bail!("{} has two machines: only scenarios of one are run with their advice", pair.name);
    }
    let arch = Arch::native();
    let kernels = kernels(&args.kernels, Some(arch), None)?;
    let twins: Vec<Kernel> = Store::open_default().of(arch).cached();
    let temporary = tempfile::tempdir().context("no temporary directory")?;
    let keep = Some(args.keep.clone().unwrap_or_else(|| temporary.path().to_owned()));
    let whylate = program(args.whylate.as_deref(), "whylate", "--whylate", arch)?;
    let injector = program(args.inject.as_deref(), "whylate-inject", "--inject", arch)?;
    let jobs = args.jobs.map_or_else(usual_jobs, usize::from);
    let matrix = Matrix { whylate, injector, keep, jobs };
    let scenarios = scenarios.into_iter().map(Arc::new).collect();
    let runs = FixRuns { scenarios, kernels, twins, seed: args.seed, cpus: args.cpus };
    let stop = signals::stop_flag()?;
    let mut number = 0;
    let results = fixes::run(&runs, &matrix, &stop, |result| {
        number += 1;
        message!("{}", line(result, number));
    })?;
    if results.is_empty() {
        bail!("nothing to run: none of these scenarios makes something late on these kernels");
    }
    let document = FixesDocument::of(results);
    match args.json {
        true => output::print_json(&document.json())?,
        false => output::print(&table(&document))?,
    }
    let any = |end| document.runs.iter().any(|run| run.end == end);
    Ok(if any(FixEnd::NoRun) {
        ExitStatus::Failed
    } else if document.total.gone == document.total.judged {
        ExitStatus::Done
    } else {
        ExitStatus::Found
    })
}

/// One run, as it ends.
fn line(result: &FixResult, number: usize) -> String {
    let after = result.after.as_ref();
    let late = |jobs: Option<u64>| jobs.map_or_else(|| "-".to_owned(), |jobs| jobs.to_string());
    let mut line = format!(
        "{number:>4} {:<12} {} on {}: {} -> {} late; {}: {} ({}) [{:.1} s]",
        result.end.word(),
        result.scenario,
        result.kernel,
        result.before.late,
        late(after.map(|after| after.late)),
        result.code,
        result.applied.join(", "),
        result.route.word(),
        result.seconds
    );
    if !result.note.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(line, "\n          note: {}", result.note);
    }
    line
}

fn table(document: &FixesDocument) -> String {
    const HEADS: [&str; 9] =
        ["judged", "gone", "less", "moved", "unchanged", "WORSE", "not made", "by hand", "no run"];
    let mut text = format!("{:<18}", "advice");
    HEADS.iter().for_each(|head| text += &format!("  {head}"));
    text.push('\n');
    for row in document.by_route.iter().chain([&document.total]) {
        text += &format!("{:<18}", row.name);
        for (head, cell) in HEADS.iter().zip(cells(row)) {
            text += &format!("  {cell:>width$}", width = head.len());
        }
        text.push('\n');
    }
    text
}

fn cells(row: &FixRow) -> [u64; 9] {
    let FixRow { judged, gone, less, moved, unchanged, worse, not_made, by_hand, no_run, .. } = row;
    [*judged, *gone, *less, *moved, *unchanged, *worse, *not_made, *by_hand, *no_run]
}
