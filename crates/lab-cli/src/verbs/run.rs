//! `whylate-lab run`

pub(super) mod words;

use crate::args::RunArgs;
use crate::beside::program;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::{output, signals};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::sync::Arc;
use whylate_investigate::peer::{PeerQuestion, join_peer};
use whylate_lab::{Arch, Kernel, Store};
use whylate_lab_cli::label::Label;
use whylate_lab_cli::matrix::{self, Boot, End, Matrix, RunResult};
use whylate_lab_cli::scenario::{self, Scenario};
use whylate_lab_cli::score::Score;
use whylate_lab_cli::{document, judge};
use whylate_report::explain;

pub(crate) fn run(args: &RunArgs) -> Result<ExitStatus> {
    let scenarios = scenarios(args)?;
    if args.list {
        output::print(&words::list(&scenarios))?;
        return Ok(ExitStatus::Done);
    }
    let kernels = kernels(&args.kernels, args.arch, args.modules.as_deref())?;
    let seeds: Vec<u64> = args.seed.map_or_else(|| (1..=args.seeds).collect(), |seed| vec![seed]);
    let boots = matrix::plan(&scenarios, &kernels, &seeds, args.quick);
    let count: usize = boots.iter().map(|boot| boot.runs.len()).sum();
    if count == 0 {
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        bail!("nothing to run: none of these scenarios applies to {}; see --list", names.join(", "));
    }
    // A single run shows its explanation too, which needs the recording.
    let shown = if count == 1 && !args.json {
        Some(tempfile::tempdir().context("no temporary directory")?)
    } else {
        None
    };
    let keep = args.keep.clone().or_else(|| shown.as_ref().map(|directory| directory.path().to_owned()));
    let arch = kernels[0].arch;
    if let Some(other) = kernels.iter().find(|kernel| kernel.arch != arch) {
        bail!(
            "{} is a kernel for {}, {} for {arch}: run them one after the other",
            other.name,
            other.arch,
            kernels[0].name
        );
    }
    let jobs = args.jobs.map_or_else(usual_jobs, usize::from);
    let whylate = program(args.whylate.as_deref(), "whylate", "--whylate", arch)?;
    let injector = program(args.inject.as_deref(), "whylate-inject", "--inject", arch)?;
    let matrix = Matrix { whylate, injector, keep, jobs };
    let mut results = done(boots, count, &matrix)?;
    matrix::settle_sweeps(&mut results);
    let score = Score::of(&results);
    if args.json {
        output::print_json(&document::of(results.clone(), score))?;
    } else {
        if let ([result], Some(_)) = (results.as_slice(), &shown) {
            output::print(&explanation(result)?)?;
        }
        output::print(&words::tables(&score))?;
    }
    Ok(outcome(&results))
}

/// Does all runs, with one line for each on standard error.
fn done(boots: Vec<Boot>, count: usize, matrix: &Matrix) -> Result<Vec<RunResult>> {
    let stop = signals::stop_flag()?;
    message!("{count} runs in {} boots", boots.len());
    let mut ended = 0;
    let results = matrix::run(boots, matrix, &stop, |result| {
        ended += 1;
        message!("{}", words::line(result, ended, count));
    })?;
    Ok(results)
}

fn scenarios(args: &RunArgs) -> Result<Vec<Arc<Scenario>>> {
    let scenarios = match args.scenarios.as_slice() {
        [] => scenario::built_in()?,
        names => names.iter().map(|name| scenario::find(name)).collect::<Result<_, _>>()?,
    };
    Ok(scenarios.into_iter().map(Arc::new).collect())
}

/// The kernels of these names, otherwise those of the cache, for `arch`, this machine's by default. There is at least one.
pub(super) fn kernels(names: &[String], arch: Option<Arch>, modules: Option<&Path>) -> Result<Vec<Kernel>> {
    if !names.is_empty() {
        let fetching = |name: &str| message!("kernel {name} is not cached: fetching it ...");
        let pick = |name: &String| Ok(whylate_lab::kernels::pick(name, arch, modules, fetching)?);
        return names.iter().map(pick).collect();
    }
    let arch = arch.unwrap_or(Arch::native());
    let cached = Store::open_default().of(arch).cached();
    if cached.is_empty() {
        bail!(
            "no kernel for {arch} is cached: fetch some with `whylate lab kernels --arch {arch} --fetch all`, or name one with \
             --kernel"
        );
    }
    Ok(cached)
}

pub(super) fn usual_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, |cpus| cpus.get().min(8))
}

/// The explanation of the run's recording, as `whylate explain` prints it.
fn explanation(result: &RunResult) -> Result<String> {
    let Some(recording) = &result.recording else { return Ok(String::new()) };
    let source = || whylate_intake::open(recording, whylate_ledger::WANTED);
    let mut explanation = whylate_ledger::explain(source()?, &whylate_ledger::Options::default());
    let label = std::fs::read_to_string(recording.with_extension("json"))?;
    let label = Label::parse(&label)?;
    if !judge::has_victims(&label, &explanation) {
        let tasks = judge::options(&label, true).tasks;
        let options = whylate_ledger::Options { tasks, ..whylate_ledger::Options::default() };
        explanation = whylate_ledger::explain(source()?, &options);
    }
    if let Some(peer) = matrix::peer_recording(recording) {
        join_peer(&mut explanation, recording, &peer, PeerQuestion::default())?;
    }
    Ok(explain::terminal::render(&explanation, &output::style()))
}

pub(super) fn outcome(results: &[RunResult]) -> ExitStatus {
    let any = |end| results.iter().any(|result| result.end == end);
    if any(End::NoRun) {
        ExitStatus::Failed
    } else if results.iter().all(|result| result.end == End::Right) {
        ExitStatus::Done
    } else {
        ExitStatus::Found
    }
}
