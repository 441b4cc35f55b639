//! Runs programs with mistakes, alone and under doctor, in guests of the lab.

use super::execute::{self, DOCTOR, Ended, Execution, Paths};
use super::read::SHARED;
use super::{Built, Case, Language, MistakeResult, build};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use whylate_lab::job::{GuestStep, JobReport, Program};
use whylate_lab::machine::PROGRAM_PATH;
use whylate_lab::{Arch, GuestFile, Kernel, LabError, Machine, Visit, companions, find_program};

/// One boot has at most this many runs: what one of them breaks, the next boots do not have.
const MOST_RUNS: usize = 18;
/// Several mistakes are between threads that run at the same time.
const CPUS: u32 = 2;
/// MiB: Python's library, and doctor's temporary recordings.
const MEMORY: u32 = 2048;
/// What cases start themselves, by name.
const STARTED: &str = "sleep";
/// Where the programs are in the guest, whose /tmp is empty.
const DIRECTORY: &str = "/mistakes";
/// The host's time for a boot, and for a run: far more than they need, on a busy host too.
const LIMIT: (Duration, Duration) = (Duration::from_secs(120), Duration::from_secs(60));

/// A run, as far as it is known before the guest boots.
struct Run<'a> {
    case: &'a Case,
    clean: bool,
    built: Built,
}

/// Runs each case and its clean twin on `kernel`, and reports each run of a boot when that boot has ended.
/// Returns the `uname -r` of the guests.
///
/// # Errors
/// When QEMU is missing, or `stop` became true. A program that was not built, and a guest that died, are results.
pub fn run_in_guests(
    cases: &[Case],
    execution: Execution,
    kernel: &Kernel,
    paths: &Paths,
    stop: &AtomicBool,
    mut report: impl FnMut(MistakeResult),
) -> Result<String, LabError> {
    let mut release = kernel.release.clone();
    let runs: Vec<(&Case, bool)> = cases.iter().flat_map(Case::runs).collect();
    for part in runs.chunks(MOST_RUNS) {
        let mut built = Vec::new();
        for &(case, clean) in part {
            match build(case, clean, &paths.directory) {
                Ok(program) => built.push(Run { case, clean, built: program }),
                Err(error) => report(execute::result(case, clean, Err(error.into()), Duration::ZERO)),
            }
        }
        let started = Instant::now();
        let booted = boot(&built, execution, kernel, paths, stop);
        let share = started.elapsed() / u32::try_from(built.len().max(1)).unwrap_or(u32::MAX);
        match booted {
            Err(error @ (LabError::Stopped | LabError::Tool { .. })) => return Err(error),
            Err(error) => {
                let why = error.to_string();
                built.iter().for_each(|run| {
                    report(execute::result(run.case, run.clean, Err(anyhow!("no guest: {why}")), share));
                });
            }
            Ok((out, guest)) => {
                release = guest.kernel.split(' ').next().unwrap_or_default().to_owned();
                for (number, run) in built.iter().enumerate() {
                    let outcome = outcome(run, execution, number, &guest, out.path(), paths);
                    report(execute::result(run.case, run.clean, outcome, share));
                }
            }
        }
    }
    Ok(release)
}

/// Boots a guest that runs all of `runs`; the outputs are in the directory.
fn boot(
    runs: &[Run<'_>],
    execution: Execution,
    kernel: &Kernel,
    paths: &Paths,
    stop: &AtomicBool,
) -> Result<(tempfile::TempDir, JobReport), LabError> {
    let mut machine = Machine::new(kernel.clone(), &paths.whylate);
    machine.cpus = CPUS;
    machine.memory_mib = MEMORY;
    machine.interrupt = true;
    machine.limit = LIMIT.0 + LIMIT.1 * u32::try_from(runs.len()).unwrap_or(u32::MAX);
    let out = tempfile::Builder::new().prefix("whylate-lab-mistakes-").tempdir();
    let out = out.map_err(LabError::file("create", &std::env::temp_dir()))?;
    let visited = machine.run(&visit(runs, execution, paths)?, out.path(), stop)?;
    Ok((out, visited.report))
}

/// For each run two steps: the program alone, and under doctor.
fn visit(runs: &[Run<'_>], execution: Execution, paths: &Paths) -> Result<Visit, LabError> {
    // Programs and scripts move; an interpreter stays where its library expects it.
    let place = |from: &Path| match from.strip_prefix(&paths.directory) {
        Ok(name) => format!("{DIRECTORY}/{}", name.display()),
        Err(_) => from.to_string_lossy().into_owned(),
    };
    let started = find_program(STARTED).map(|from| GuestFile { from, to: format!("/bin/{STARTED}") });
    let mut files: Vec<GuestFile> = started.into_iter().collect();
    let mut add = |from: PathBuf| {
        let to = place(&from);
        if !files.iter().any(|file| file.to == to) {
            files.push(GuestFile { from, to });
        }
    };
    let mut steps = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        if run.case.language == Language::Python {
            let shared = SHARED.iter().map(|(name, _)| paths.directory.join(name));
            [paths.directory.join(&run.case.name)].into_iter().chain(shared).for_each(&mut add);
        }
        if let Some(program) = run.built.command.first().map(PathBuf::from) {
            let needed = companions(&program, &[], Arch::native())?;
            needed.files.into_iter().map(|file| file.from).for_each(&mut add);
            add(program);
        }
        let own: Vec<String> = run.built.command.iter().map(|word| place(Path::new(word))).collect();
        let doctor = std::iter::once(PROGRAM_PATH).chain(DOCTOR).map(str::to_owned);
        let under: Vec<String> = doctor.chain(own.iter().cloned()).collect();
        let mut step = |command: Vec<String>, kind: &str| {
            steps.push(GuestStep::Run(Program {
                command,
                stdout: Some(format!("{number}.{kind}.out")),
                stderr: Some(format!("{number}.{kind}.err")),
                directory: Some(DIRECTORY.to_owned()),
                ..Program::default()
            }));
        };
        step(own, "alone");
        if execution == Execution::Judged {
            step(under, "doctor");
        }
    }
    Ok(Visit { files, steps, ..Visit::default() })
}

fn outcome(
    run: &Run<'_>,
    execution: Execution,
    number: usize,
    guest: &JobReport,
    out: &Path,
    paths: &Paths,
) -> Result<(super::MistakeJudgement, String)> {
    let steps = if execution == Execution::Judged { 2 } else { 1 };
    let read = |name: String| std::fs::read_to_string(out.join(name)).unwrap_or_default();
    let ended = |index: usize, kind: &str| -> Result<Ended> {
        let step = guest.steps.get(number * steps + index).context("the guest ended before this program")?;
        match &step.error {
            Some(error) => Err(anyhow!("{error}")),
            None => Ok(Ended {
                code: step.code,
                output: read(format!("{number}.{kind}.out")),
                errors: read(format!("{number}.{kind}.err")),
            }),
        }
    };
    let alone = ended(0, "alone")?;
    if let Some(unjudged) = execute::before_doctor(run.case, execution, &alone) {
        return Ok(unjudged);
    }
    let judgement = execute::judged(run.case, run.clean, &run.built, &ended(1, "doctor")?, &paths.directory)?;
    Ok((judgement, execute::last_line(&alone.errors)))
}
