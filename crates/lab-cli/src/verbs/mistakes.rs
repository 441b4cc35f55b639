//! `whylate-lab mistakes`

mod words;

use super::run::kernels;
use crate::args::MistakesArgs;
use crate::beside::program_here;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use whylate_lab::Arch;
use whylate_lab_cli::mistakes::{self, Case, Execution, MistakeEnd, MistakeResult, MistakesDocument, Paths};

pub(crate) fn run(args: &MistakesArgs) -> Result<ExitStatus> {
    let cases = match args.common.cases.as_slice() {
        [] => mistakes::built_in()?,
        names => names.iter().map(|name| mistakes::find(name)).collect::<Result<_, _>>()?,
    };
    if args.common.list {
        output::print(&words::list(&cases))?;
        return Ok(ExitStatus::Done);
    }
    let execution = if args.truth_only { Execution::TruthOnly } else { Execution::Judged };
    let whylate = match execution {
        Execution::TruthOnly => PathBuf::new(),
        Execution::Judged => program_here(args.common.whylate.as_deref(), "whylate", "--whylate")?,
    };
    let temporary = tempfile::tempdir().context("no temporary directory")?;
    let directory = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let directory =
        directory.canonicalize().with_context(|| format!("cannot read {}", directory.display()))?;
    let whylate = if whylate.is_relative() { whylate.canonicalize().unwrap_or(whylate) } else { whylate };
    let paths = Paths { whylate, directory };
    let stop = signals::stop_flag()?;
    let count = cases.iter().flat_map(Case::runs).count();
    let mut runs = Vec::with_capacity(count);
    let mut ended = |result: MistakeResult| {
        message!("{}", words::line(&result, runs.len() + 1, count));
        runs.push(result);
    };
    let release = match &args.kernel {
        Some(name) => {
            let kernels = kernels(std::slice::from_ref(name), Some(Arch::native()), None)?;
            let kernel = kernels.first().with_context(|| format!("no kernel {name}"))?;
            mistakes::run_in_guests(&cases, execution, kernel, &paths, &stop, ended)?
        }
        None => {
            for (case, clean) in cases.iter().flat_map(Case::runs) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                ended(mistakes::run(case, clean, execution, &paths, &stop));
            }
            rustix::system::uname().release().to_string_lossy().into_owned()
        }
    };
    let document = MistakesDocument::of(runs, release, args.kernel.clone());
    match args.common.json {
        true => output::print_json(&document.json())?,
        false if args.truth_only => {}
        false => output::print(&words::tables(&document))?,
    }
    let any = |end| document.runs.iter().any(|run| run.judgement.end == end);
    Ok(if any(MistakeEnd::NoRun) || document.runs.len() < count {
        ExitStatus::Failed
    } else if document.runs.iter().all(|run| run.judgement.end == MistakeEnd::Right) {
        ExitStatus::Done
    } else {
        ExitStatus::Found
    })
}
