//! `whylate lab run`

mod words;

use crate::outcome::Outcome;
use crate::output::say;
use crate::{output, signals};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use whylate_lab::label::Label;
use whylate_lab::matrix::{self, Boot, End, Matrix, RunResult};
use whylate_lab::scenario::{self, Scenario};
use whylate_lab::score::Score;
use whylate_lab::{Kernel, Store, judge};
use whylate_report::explain;

/// The injector's name, beside this program.
const INJECTOR: &str = "whylate-inject";

/// `whylate lab run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Scenarios by name, or files of your own (see lab/scenarios)
    #[arg(value_name = "SCENARIO", required_unless_present_any = ["all", "quick", "list"])]
    scenarios: Vec<String>,
    /// Every scenario
    #[arg(long, conflicts_with = "scenarios")]
    all: bool,
    /// Only what is in the quick subset, on the kernels named there
    #[arg(long)]
    quick: bool,
    /// List the scenarios and exit
    #[arg(long, conflicts_with = "json")]
    list: bool,
    /// Run on this kernel: a name of `whylate lab kernels`, fetched if need be, or a bzImage (repeatable)
    /// [default: every cached kernel that a scenario applies to]
    #[arg(short, long = "kernel", value_name = "NAME|PATH")]
    kernels: Vec<String>,
    /// The kernel's modules, for a bzImage
    #[arg(long, value_name = "DIR", requires = "kernels")]
    modules: Option<PathBuf>,
    /// As many runs of each, with the seeds 1 to N: names, phases and lengths vary
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    seeds: u64,
    /// One run of each, with this seed; 0 gives telling names
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Guests side by side, while they keep their own time [default: one for each CPU, at most 8]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Keep recordings and labels in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The program that provokes the faults [default: whylate-inject beside this program]
    #[arg(long, value_name = "PATH")]
    inject: Option<PathBuf>,
    /// Write JSON to standard output: every run, and the sums
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RunArgs) -> Result<Outcome> {
    let scenarios = scenarios(args)?;
    if args.list {
        output::print(&words::list(&scenarios))?;
        return Ok(Outcome::Done);
    }
    let kernels = kernels(args)?;
    let seeds: Vec<u64> = args.seed.map_or_else(|| (1..=args.seeds).collect(), |seed| vec![seed]);
    let boots = matrix::plan(&scenarios, &kernels, &seeds, args.quick);
    let count: usize = boots.iter().map(|boot| boot.runs.len()).sum();
    if count == 0 {
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        bail!("nothing to run: no scenario asked for applies to {}; see --list", names.join(", "));
    }
    // Of a single run the answer is shown too, for which its recording must still be there.
    let shown = if count == 1 && !args.json {
        Some(tempfile::tempdir().context("no temporary directory")?)
    } else {
        None
    };
    let keep = args.keep.clone().or_else(|| shown.as_ref().map(|directory| directory.path().to_owned()));
    let jobs = args.jobs.map_or_else(usual_jobs, usize::from);
    let matrix = Matrix { injector: injector(args.inject.as_deref())?, keep, jobs };
    let mut results = done(boots, count, &matrix)?;
    matrix::settle_sweeps(&mut results);
    let score = Score::of(&results);
    if args.json {
        output::print_json(&json!({"schema": "whylate.lab-run/1", "runs": results, "score": score}))?;
    } else {
        if let ([result], Some(_)) = (results.as_slice(), &shown) {
            output::print(&explanation(result)?)?;
        }
        output::print(&words::tables(&score))?;
    }
    Ok(outcome(&results))
}

/// Does all runs, with a line on standard error for each.
fn done(boots: Vec<Boot>, count: usize, matrix: &Matrix) -> Result<Vec<RunResult>> {
    let stop = signals::stop_flags()?;
    say!("{count} runs in {} boots", boots.len());
    let mut ended = 0;
    let results = matrix::run(boots, matrix, &stop.asked, |result| {
        ended += 1;
        say!("{}", words::line(result, ended, count));
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

fn kernels(args: &RunArgs) -> Result<Vec<Kernel>> {
    if !args.kernels.is_empty() {
        let modules = args.modules.as_deref();
        return args.kernels.iter().map(|kernel| super::kernel(kernel, modules)).collect();
    }
    let cached = Store::open_default().cached();
    if cached.is_empty() {
        bail!(
            "no kernel is cached: fetch some with `whylate lab kernels --fetch all`, or name one with --kernel"
        );
    }
    Ok(cached)
}

fn injector(given: Option<&Path>) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => std::env::current_exe().context("cannot find this program")?.with_file_name(INJECTOR),
    };
    if !path.is_file() {
        bail!(
            "{} is not there: build it (cargo build --release -p {INJECTOR}), or name it with --inject",
            path.display()
        );
    }
    whylate_lab::check_program(&path)?;
    Ok(path)
}

fn usual_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, |cpus| cpus.get().min(8))
}

/// What `whylate explain` says of the run's recording.
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
    Ok(explain::terminal::render(&explanation, &output::style()))
}

fn outcome(results: &[RunResult]) -> Outcome {
    let any = |end| results.iter().any(|result| result.end == end);
    if any(End::NoRun) {
        Outcome::Failed
    } else if results.iter().all(|result| result.end == End::Right) {
        Outcome::Done
    } else {
        Outcome::Found
    }
}
