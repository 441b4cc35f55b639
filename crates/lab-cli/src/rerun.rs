//! One scenario once more, in a guest of its own, with a change: settings that `whylate apply` makes before the first job is
//! due, other kernel parameters, another kernel, or other arguments of the injector.

use crate::label::Label;
use crate::matrix::{Boot, INJECT_PATH, Matrix, Run, complaints, inject, modules, settings};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use whylate_base::{Ns, parse_duration};
use whylate_lab::job::{GuestStep, Program};
use whylate_lab::machine::PROGRAM_PATH;
use whylate_lab::{GuestFile, Kernel, LabError, Machine, TimeSource, Visit};

/// The threads of the fault exist this long before its first job is due.
const SETTLE: Ns = Ns::from_secs(12);
/// Then each has its name, policy and CPUs, also where the guest runs slowly.
const THREADS_UP: Ns = Ns::from_secs(4);
/// The document of the change in the guest.
const CHANGE_PATH: &str = "/change.json";
/// The names of the files of a rerun.
const PREFIX: &str = "rerun";

/// A scenario with a change.
#[derive(Clone, Debug)]
pub struct Rerun {
    /// The run; its scenario has the other arguments and parameters already.
    pub run: Run,
    /// The kernel to boot.
    pub kernel: Kernel,
    /// A document that `whylate apply --from` takes; `None`: no setting is changed.
    pub apply: Option<Value>,
    /// The recording begins when the threads exist, as it does with settings; otherwise it has their beginnings.
    pub settled: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The injector's label.
    pub label: Label,
    /// The recording, from before the first job.
    pub recording: PathBuf,
    /// The settings that `whylate apply` made, in words.
    pub applied: Vec<String>,
    /// Whether the host may have taken time from the guest.
    pub host_noise: bool,
}

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// The guest did not get to its end.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The change was refused.
    #[error("whylate apply: {0}")]
    Refused(String),
    /// No label or no recording.
    #[error("{0}")]
    NoResult(String),
}

/// Boots, runs, and leaves label and recording in `out`.
///
/// # Errors
/// [`RerunError`].
pub fn rerun(rerun: &Rerun, matrix: &Matrix, out: &Path, stop: &AtomicBool) -> Result<Ran, RerunError> {
    let boot = Boot { kernel: rerun.kernel.clone(), runs: vec![rerun.run.clone()] };
    let scenario = &rerun.run.scenario;
    let mut machine = Machine::new(rerun.kernel.clone(), &matrix.whylate);
    machine.cpus = scenario.cpus;
    machine.time = boot.time();
    machine.append = scenario.append.clone();
    machine.limit = boot.limit() + Duration::from_secs(120);
    machine.stop = scenario.stop_ms.map(Duration::from_millis);
    let mut files = vec![GuestFile { from: matrix.injector.clone(), to: INJECT_PATH.to_owned() }];
    let change = out.join("change.json");
    if let Some(document) = &rerun.apply {
        std::fs::write(&change, document.to_string()).map_err(LabError::file("write", &change))?;
        files.push(GuestFile { from: change, to: CHANGE_PATH.to_owned() });
    }
    let visit = Visit { files, modules: modules(scenario), steps: steps(rerun), ..Visit::default() };
    let visited = machine.run(&visit, out, stop)?;
    let read = |name: &str| std::fs::read_to_string(out.join(format!("{PREFIX}.{name}"))).unwrap_or_default();
    let applied = match rerun.apply {
        Some(_) => applied(&read("apply"), &complaints(out, PREFIX, &["apply.err"]))?,
        None => Vec::new(),
    };
    let complaints = complaints(out, PREFIX, &["json.err", "record.err"]);
    let no_result = |what: String| RerunError::NoResult(format!("{what}: {complaints}"));
    let label = Label::parse(&read("json")).map_err(|error| no_result(format!("no label ({error})")))?;
    let recording = out.join(format!("{PREFIX}.dat"));
    if !recording.is_file() {
        return Err(no_result("no recording".to_owned()));
    }
    let host_noise = visited.time == TimeSource::Free || scenario.cpus > 1;
    Ok(Ran { label, recording, applied, host_noise })
}

fn steps(rerun: &Rerun) -> Vec<GuestStep> {
    let (scenario, arch) = (&rerun.run.scenario, rerun.kernel.arch);
    let program = |command: Vec<String>, name: &str, background| {
        let (stdout, stderr) = (Some(format!("{PREFIX}.{name}")), Some(format!("{PREFIX}.{name}.err")));
        GuestStep::Run(Program { command, stdout, stderr, background, ..Program::default() })
    };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let mut inject = inject(&rerun.run, arch);
    let mut steps = settings(scenario);
    let mut record = words(&[PROGRAM_PATH, "record", "--output", &format!("/out/{PREFIX}.dat")]);
    record.extend(scenario.record.iter().cloned());
    if !rerun.settled {
        record.push("--".to_owned());
        record.extend(inject);
        // The label is on standard output, the recorder's own words are on standard error.
        steps.push(program(record, "json", false));
        return steps;
    }
    inject.extend(words(&["--settle", &format!("{}ms", SETTLE.0 / 1_000_000)]));
    let length = parse_duration(&scenario.duration).unwrap_or(Ns::from_secs(2)) + SETTLE - THREADS_UP;
    record.extend(words(&["--duration", &format!("{}ms", length.0 / 1_000_000)]));
    steps.push(program(inject, "json", true));
    steps.push(GuestStep::Sleep(THREADS_UP.0.unsigned_abs() / 1_000_000));
    if rerun.apply.is_some() {
        let apply = words(&[PROGRAM_PATH, "apply", "--from", CHANGE_PATH, "--yes", "--json"]);
        steps.push(program(apply, "apply", false));
    }
    steps.extend([program(record, "record", false), GuestStep::Wait]);
    steps
}

/// The settings of an apply that is done, by its document.
fn applied(document: &str, complaints: &str) -> Result<Vec<String>, RerunError> {
    let document: Value =
        serde_json::from_str(document).map_err(|_| RerunError::Refused(complaints.to_owned()))?;
    let applies = document["applies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let steps: Vec<&Value> = applies.iter().filter_map(|apply| apply["steps"].as_array()).flatten().collect();
    let done = |step: &&Value| matches!(step["progress"].as_str(), Some("done" | "already"));
    if let Some(step) = steps.iter().find(|step| !done(step)) {
        let why = step["why"].as_str().unwrap_or(complaints);
        return Err(RerunError::Refused(why.to_owned()));
    }
    if steps.is_empty() {
        return Err(RerunError::Refused(complaints.to_owned()));
    }
    let shown = |step: &&Value| {
        let text = |key: &str| step[key].as_str().unwrap_or("-").to_owned();
        format!("{}: {} -> {}", text("what"), text("before"), text("then"))
    };
    Ok(steps.iter().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Expectation, find};
    use serde_json::json;
    use std::sync::Arc;
    use whylate_lab::Arch;

    fn shown(apply: Option<Value>, settled: bool) -> Vec<String> {
        let run = Run {
            scenario: Arc::new(find("higher").expect("a scenario")),
            kernel: "6.12".to_owned(),
            expected: Expectation::default(),
            seed: 1,
            sweep: Vec::new(),
        };
        let kernel = Kernel {
            name: "6.12".to_owned(),
            release: "6.12.0".to_owned(),
            preempt_rt: false,
            arch: Arch::X86_64,
            image: PathBuf::from("/k"),
            modules: None,
        };
        let step = |step: GuestStep| match step {
            GuestStep::Run(program) => program.command.join(" "),
            other => format!("{other:?}"),
        };
        steps(&Rerun { run, kernel, apply, settled }).into_iter().map(step).collect()
    }

    #[test]
    fn settings_are_made_before_the_first_job() {
        assert_eq!(
            shown(Some(json!({})), true),
            [
                "/inject higher --duration 2s --seed 1 --settle 12000ms",
                "Sleep(4000)",
                "/whylate apply --from /change.json --yes --json",
                "/whylate record --output /out/rerun.dat --duration 10000ms",
                "Wait",
            ]
        );
        assert_eq!(
            shown(None, false),
            ["/whylate record --output /out/rerun.dat -- /inject higher --duration 2s --seed 1"]
        );
        let without = shown(Some(json!({})), true).into_iter().filter(|step| !step.contains("apply"));
        assert_eq!(shown(None, true), without.collect::<Vec<_>>());
    }

    #[test]
    fn an_apply_counts_only_whole() {
        let step =
            |progress: &str| json!({"what": "CPUs of a", "before": "1", "then": "0", "progress": progress});
        let document = |steps: Vec<Value>| json!({"applies": [{"steps": steps}]}).to_string();
        let whole = applied(&document(vec![step("done"), step("already")]), "").expect("whole");
        assert_eq!(whole, ["CPUs of a: 1 -> 0", "CPUs of a: 1 -> 0"]);
        for text in [document(vec![step("done"), step("failed")]), document(Vec::new()), String::new()] {
            // A failed step without a reason of its own has that of standard error.
            let error = applied(&text, "refused: why").expect_err(&text).to_string();
            assert!(error.contains("refused: why"), "{error}");
        }
    }
}
