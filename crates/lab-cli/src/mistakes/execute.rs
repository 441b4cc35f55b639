//! Runs a program alone, and under doctor.

use super::places::Lookup;
use super::score::MistakeResult;
use super::{Answer, Built, Case, MistakeEnd, MistakeJudgement, SourceLine, build, judge};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest that a program may run: each ends within 5 s by itself where the machine is idle.
const PROGRAM_LIMIT: Duration = Duration::from_secs(30);
/// The same under doctor, with its own start and the reading of symbols.
const DOCTOR_LIMIT: Duration = Duration::from_secs(120);
/// The time that a program has to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);
/// The arguments of whylate before the program's.
pub(super) const DOCTOR: [&str; 3] = ["doctor", "--json", "--"];

/// Where the runs take place.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The program under test.
    pub whylate: PathBuf,
    /// Programs and answers are written here.
    pub directory: PathBuf,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The program alone, which checks its own mistake.
    TruthOnly,
    /// The same, and then under doctor.
    Judged,
}

/// Builds and runs a case, or its clean twin.
pub fn run(
    case: &Case,
    clean: bool,
    execution: Execution,
    paths: &Paths,
    stop: &AtomicBool,
) -> MistakeResult {
    let started = Instant::now();
    let outcome = outcome(case, clean, execution, paths, stop);
    result(case, clean, outcome, started.elapsed())
}

/// The result of a run, or of one that failed.
pub(super) fn result(
    case: &Case,
    clean: bool,
    outcome: Result<(MistakeJudgement, String)>,
    took: Duration,
) -> MistakeResult {
    let (judgement, note) =
        outcome.unwrap_or_else(|error| (unjudged(MistakeEnd::NoRun), format!("{error:#}")));
    MistakeResult {
        case: case.name.clone(),
        language: case.language.name().to_owned(),
        flags: flags(case),
        code: case.code.clone(),
        clean,
        judgement,
        note,
        seconds: took.as_secs_f64(),
    }
}

fn flags(case: &Case) -> String {
    let words = case.flags.iter().map(String::as_str).chain(case.stripped.then_some("stripped"));
    words.collect::<Vec<_>>().join(" ")
}

fn unjudged(end: MistakeEnd) -> MistakeJudgement {
    MistakeJudgement { end, found: false, line_right: None, places: Vec::new(), false_findings: Vec::new() }
}

fn outcome(
    case: &Case,
    clean: bool,
    execution: Execution,
    paths: &Paths,
    stop: &AtomicBool,
) -> Result<(MistakeJudgement, String)> {
    let built = build(case, clean, &paths.directory)?;
    let alone = ended(&mut own_command(&built, &paths.directory)?, &paths.directory, PROGRAM_LIMIT, stop)?;
    if let Some(unjudged) = before_doctor(case, execution, &alone) {
        return Ok(unjudged);
    }
    let mut doctor = Command::new(&paths.whylate);
    doctor.args(DOCTOR).args(&built.command).current_dir(&paths.directory);
    let under = ended(&mut doctor, &paths.directory, DOCTOR_LIMIT, stop)?;
    judged(case, clean, &built, &under, &paths.directory)
        .map(|judgement| (judgement, last_line(&alone.errors)))
}

/// The end of a run that is not judged: the mistake did not take place, or only that was asked.
pub(super) fn before_doctor(
    case: &Case,
    execution: Execution,
    alone: &Ended,
) -> Option<(MistakeJudgement, String)> {
    let figure = last_line(&alone.errors);
    if alone.code != Some(0) {
        let note = format!("{} ended with {}: {figure}", case.name, alone.in_words());
        return Some((unjudged(MistakeEnd::NotProvoked), note));
    }
    (execution == Execution::TruthOnly).then(|| (unjudged(MistakeEnd::Right), figure))
}

/// Judges the document of doctor, which is kept in `directory`.
pub(super) fn judged(
    case: &Case,
    clean: bool,
    built: &Built,
    under: &Ended,
    directory: &Path,
) -> Result<MistakeJudgement> {
    let answer: Answer = serde_json::from_str(&under.output).with_context(|| {
        format!("doctor ended with {}, and no document: {}", under.in_words(), last_line(&under.errors))
    })?;
    let kept = directory.join(format!("{}{}.json", case.name, if clean { "-clean" } else { "" }));
    std::fs::write(&kept, &under.output).with_context(|| format!("cannot write {}", kept.display()))?;
    let lookup = match (&built.program, &built.with_symbols) {
        (Some(program), Some(symbols)) => Lookup::of(program, symbols),
        _ => None,
    };
    let lines = |module: &str, offset| -> Vec<SourceLine> {
        lookup.as_ref().map(|lookup| lookup.lines(module, offset)).unwrap_or_default()
    };
    Ok(judge(case, clean, &answer, lines))
}

fn own_command(built: &Built, directory: &Path) -> Result<Command> {
    let (program, arguments) = built.command.split_first().context("a program without a name")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    Ok(command)
}

/// A program that has ended.
pub(super) struct Ended {
    /// Its exit code; `None` where a signal ended it, or it did not run.
    pub(super) code: Option<i32>,
    /// What it wrote to standard output.
    pub(super) output: String,
    /// What it wrote to standard error.
    pub(super) errors: String,
}

impl Ended {
    fn in_words(&self) -> String {
        self.code.map_or("a signal".to_owned(), |code| format!("exit code {code}"))
    }
}

/// Runs a program to its end, or ends it after `limit`, or when `stop` is set.
fn ended(command: &mut Command, directory: &Path, limit: Duration, stop: &AtomicBool) -> Result<Ended> {
    let (output, errors) = (directory.join("stdout"), directory.join("stderr"));
    let create = |path: &Path| File::create(path).with_context(|| format!("cannot write {}", path.display()));
    command.stdin(Stdio::null()).stdout(create(&output)?).stderr(create(&errors)?);
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let stopped = stop.load(Ordering::Relaxed);
        if stopped || started.elapsed() > limit {
            end(&mut child)?;
            match stopped {
                true => bail!("stopped by a signal"),
                false => bail!("{name} did not end within {} s", limit.as_secs()),
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Ended { code: status.code(), output: text(read(&output)?), errors: text(read(&errors)?) })
}

/// Asks the program to end, then forces it to.
fn end(child: &mut Child) -> Result<()> {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::TERM);
    }
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// The last line that is not empty.
pub(super) fn last_line(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let run = |script: &str, limit, stopped| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            ended(&mut command, directory.path(), limit, &AtomicBool::new(stopped))
        };
        let done =
            run("echo out; echo one >&2; echo two >&2; exit 3", PROGRAM_LIMIT, false).expect("it ends");
        assert_eq!((done.code, done.output.as_str()), (Some(3), "out\n"));
        assert_eq!(last_line(&done.errors), "two");
        let error = run("exec sleep 1000", Duration::ZERO, false).map(|_| ()).expect_err("too long");
        assert!(error.to_string().contains("did not end"), "{error}");
        let error = run("exec sleep 1000", PROGRAM_LIMIT, true).map(|_| ()).expect_err("stopped");
        assert!(error.to_string().contains("signal"), "{error}");
    }
}
