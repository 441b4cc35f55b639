//! `whylate-lab programs`

use super::run::{kernels, outcome, words};
use crate::args::ProgramsArgs;
use crate::beside::program;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result, bail};
use std::sync::Arc;
use whylate_lab::{Arch, Store};
use whylate_lab_cli::document;
use whylate_lab_cli::matrix::RunResult;
use whylate_lab_cli::programs::{self, Case, Programs};
use whylate_lab_cli::score::Score;

pub(crate) fn run(args: &ProgramsArgs) -> Result<ExitStatus> {
    let cases = match args.common.cases.as_slice() {
        [] => programs::built_in()?,
        names => names.iter().map(|name| programs::find(name)).collect::<Result<_, _>>()?,
    };
    let cases: Vec<Arc<Case>> = cases.into_iter().map(Arc::new).collect();
    if args.common.list {
        output::print(&list(&cases))?;
        return Ok(ExitStatus::Done);
    }
    let results = match &args.again {
        Some(directory) => {
            programs::again(&cases, directory, |result| message!("{}", words::line(result, 1, 1)))?
        }
        None => booted(args, &cases)?,
    };
    let score = Score::of(&results);
    match args.common.json {
        true => output::print_json(&document::of(results.clone(), score))?,
        false => output::print(&words::tables(&score))?,
    }
    Ok(outcome(&results))
}

fn booted(args: &ProgramsArgs, cases: &[Arc<Case>]) -> Result<Vec<RunResult>> {
    let boots = programs::plan(cases, &kernels(&args.kernels, Some(Arch::X86_64), None)?);
    let count: usize = boots.iter().map(programs::ProgramBoot::count).sum();
    if count == 0 {
        bail!("nothing to run: none of these cases applies to these kernels; see --list");
    }
    let temporary = tempfile::tempdir().context("no temporary directory")?;
    let keep = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let whylate = program(args.common.whylate.as_deref(), "whylate", "--whylate", Arch::X86_64)?;
    let stop = signals::stop_flag()?;
    message!("{count} runs in {} boots", boots.len());
    let mut ended = 0;
    let settings = Programs { whylate, keep, truth_only: args.truth_only };
    let results = programs::run(boots, &settings, &Store::open_default(), &stop, |result| {
        ended += 1;
        message!("{}", words::line(result, ended, count));
    })?;
    Ok(results)
}

/// One line for each case: its name, its programs, its kernels, and the fault.
fn list(cases: &[Arc<Case>]) -> String {
    let widest = cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
    let line = |case: &Arc<Case>| {
        let kind = if case.is_healthy() { "healthy" } else { "fault" };
        let programs = case.programs.join(", ");
        format!(
            "{:<widest$}  {kind:<7}  {} ({programs}; {})\n",
            case.name,
            case.title,
            case.kernels.join(", ")
        )
    };
    cases.iter().map(line).collect()
}
