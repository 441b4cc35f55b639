//! `whylate simulate`

mod export;
mod profile;
mod provoke;
mod snapshot;

use crate::args::{ConvertFormat, SimulateArgs};
use crate::atomic_file;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use crate::signals;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io;
use std::path::Path;
use whylate_base::Ns;
use whylate_events::EventSource;
use whylate_ledger::{Select, WANTED};
use whylate_simulate::change;
use whylate_simulate::propose::{ProposalOutcome, propose};
use whylate_simulate::recording;
use whylate_simulate::sweep::{Sweep, SweepSubject, sweep};
use whylate_simulate::taskset::{self, Overrides};
use whylate_simulate::worst_case::worst_cases;
use whylate_simulate::{RunOptions, SimulationReport, mean};

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitStatus> {
    let format = args.export.as_deref().map(export::check).transpose()?;
    for file in args.export.iter().chain(&args.replay.write_profile) {
        crate::output::spare(&args.input, file)?;
    }
    args.replay.write_profile.as_deref().map_or(Ok(()), atomic_file::check)?;
    let destination = Destination::of::<SimulationReport>(&args.output, std::slice::from_ref(&args.input))?;
    match trace(args)? {
        Some(source) => of_recording(args, source, format, &destination),
        None => of_task_set(args, format, &destination),
    }
}

fn of_task_set(
    args: &SimulateArgs,
    format: Option<ConvertFormat>,
    destination: &Destination<'_>,
) -> Result<ExitStatus> {
    let name = args.input.display();
    if args.replay.is_for_recordings() {
        bail!(
            "{name}: --deadline, --remove, --mean and --worst-case are for recordings: change the task set itself; its bounds are in the \
             table"
        );
    }
    let text = match args.input.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(&args.input),
    };
    let text = text.with_context(|| format!("cannot read the task set {name}"))?;
    let mut overrides = Overrides { kernel: args.kernel, cpus: args.cpus, ..Overrides::default() };
    let unknown = match &args.snapshot {
        Some(path) => snapshot::machine(path, &mut overrides)?,
        None => Vec::new(),
    };
    let model = taskset::read(&text, &overrides).with_context(|| format!("{name}"))?;
    let options = RunOptions {
        duration: args.duration.unwrap_or(Ns::from_secs(10)),
        seed: args.seed.unwrap_or(0),
        worst: args.worst.into(),
    };
    let subject = SweepSubject::TaskSet { model: &model, options };
    let mut report = reported(args, subject).with_context(|| format!("{name}"))?;
    report.assumptions.extend(unknown);
    destination.write(&report)?;
    profile::write(args.replay.write_profile.as_deref(), &report)?;
    if let Some((file, format)) = args.export.as_deref().zip(format) {
        let (model, _) = change::apply_to_task_set(&model, &args.replay.changes())?;
        export::write(&model, options.duration, options.seed, file, format)?;
    }
    Ok(status(args, &report))
}

/// With the changes, with those that are proposed, or with each combination of a sweep.
fn reported(args: &SimulateArgs, subject: SweepSubject<'_>) -> Result<SimulationReport> {
    let (tasks, changes) = (&args.replay.tasks, args.replay.changes());
    if args.replay.propose {
        let stop = signals::stop_flags()?;
        return Ok(propose(subject, tasks, &changes, &stop.asked)?);
    }
    if args.replay.sweep.is_empty() {
        return Ok(subject.report(&changes, tasks)?);
    }
    let stop = signals::stop_flags()?;
    Ok(sweep(subject, tasks, &changes, &args.replay.sweep, &stop.asked)?)
}

fn of_recording(
    args: &SimulateArgs,
    source: Box<dyn EventSource>,
    format: Option<ConvertFormat>,
    destination: &Destination<'_>,
) -> Result<ExitStatus> {
    let name = args.input.display();
    let of_machine = args.cpus.is_some() || args.kernel.is_some() || args.snapshot.is_some();
    if of_machine {
        bail!(
            "{name}: --cpus, --kernel and --snapshot are for task sets; of a recording, change the kernel by --set kernel=VERSION"
        );
    }
    if (args.duration.is_some() || args.seed.is_some()) && !args.replay.mean {
        bail!(
            "{name}: --duration and --seed are for task sets: a replay is as long as the recording, and draws nothing; with --mean \
             jobs are drawn from those of the recording"
        );
    }
    let selected: Vec<Select> = match args.replay.worst_case {
        true => args.replay.tasks.iter().map(|target| change::select(target)).collect(),
        false => Vec::new(),
    };
    if let Some(directory) = &args.replay.provoke {
        provoke::check(directory)?;
    }
    let (mut recording, watched) =
        recording::read_watching(source, &selected).with_context(|| format!("{name}"))?;
    if args.replay.mean {
        recording = mean(&recording, args.duration.unwrap_or(recording.length), args.seed.unwrap_or(0));
    }
    let subject = SweepSubject::Recording {
        recording: &recording,
        deadline: args.replay.deadline,
        worst: args.worst.into(),
    };
    let mut report = reported(args, subject).with_context(|| format!("{name}"))?;
    if args.replay.worst_case {
        report.worst_cases = worst_cases(&recording, &watched);
    }
    destination.write(&report)?;
    profile::write(args.replay.write_profile.as_deref(), &report)?;
    if let Some((file, format)) = args.export.as_deref().zip(format) {
        let (model, _) = change::apply(&recording, &args.replay.changes())?;
        export::write(&model, recording.length, recording.seed(), file, format)?;
    }
    if report.tasks.is_empty() {
        message!(
            "whylate: cannot tell: {name}: no real-time thread was active: choose others with --task COMM|TID"
        );
        return Ok(ExitStatus::CannotTell);
    }
    if let Some(directory) = &args.replay.provoke {
        provoke::write(directory, &report.worst_cases)?;
    }
    if report.worst_cases.iter().any(|worst| worst.bound.is_err()) {
        return Ok(ExitStatus::CannotTell);
    }
    Ok(status(args, &report))
}

/// Where a sweep or a search was interrupted and has found nothing, the rest is not known; nor is it where a search has found
/// nothing, for it does not try all.
fn status(args: &SimulateArgs, report: &SimulationReport) -> ExitStatus {
    if let Some(proposal) = &report.proposal
        && matches!(proposal.outcome, ProposalOutcome::Interrupted | ProposalOutcome::NotFound { .. })
    {
        return ExitStatus::CannotTell;
    }
    match ExitStatus::of(&report.findings, args.fail_on.into()) {
        ExitStatus::Done if report.sweep.as_ref().is_some_and(Sweep::is_cut_short) => ExitStatus::CannotTell,
        status => status,
    }
}

/// The recording that is to be replayed; `None` for a task set. The content decides, not the name.
fn trace(args: &SimulateArgs) -> Result<Option<Box<dyn EventSource>>> {
    if args.input.as_os_str() == "-" {
        return Ok(None);
    }
    if is_task_set(&args.input) {
        return Ok(None);
    }
    let source = whylate_intake::open(&args.input, WANTED)?;
    Ok(Some(source))
}

/// True for text that is no trace: its errors are those of a task set.
fn is_task_set(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return true };
    if metadata.is_dir() {
        return false;
    }
    // A task set is small; a trace of this size has events.
    const LARGEST: u64 = 4 << 20;
    if metadata.len() > LARGEST {
        return false;
    }
    let Ok(text) = fs::read_to_string(path) else { return false };
    path.extension().is_some_and(|extension| extension == "toml")
        || text.lines().any(|line| line.trim() == "[[task]]")
        || whylate_intake::open(path, WANTED).is_err()
}
