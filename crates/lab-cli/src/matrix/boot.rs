//! One boot: from its runs to the guest's steps, and from their files to judgements.

use super::plan::{Boot, Run};
use super::result::{End, RunResult, expected_code, said};
use super::settings::Matrix;
use crate::judge::{Circumstances, has_victims, judge, options};
use crate::label::Label;
use crate::scenario::{Scenario, split_setting};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use whylate_lab::job::{GuestStep, GuestStepReport, JobReport, Program};
use whylate_lab::machine::PROGRAM_PATH;
use whylate_lab::{Arch, GuestFile, LabError, Machine, TimeSource, Visit, Visited};
use whylate_ledger::{Explanation, explain};

/// Where the guest finds the injector.
pub(crate) const INJECT_PATH: &str = "/inject";
/// Stands in a scenario for a serial port that no program reads.
const SPARE_SERIAL: &str = "{spare-serial}";
/// At most this many characters of a program's standard error are shown.
const MOST_WORDS: usize = 400;

/// Boots the machine and judges every run.
pub(super) fn run(boot: &Boot, matrix: &Matrix, stop: &AtomicBool) -> Result<Vec<RunResult>, LabError> {
    let Some(scenario) = boot.scenario() else { return Ok(Vec::new()) };
    let mut machine = Machine::new(boot.kernel.clone(), &matrix.whylate);
    machine.cpus = scenario.cpus;
    machine.time = boot.time();
    machine.append = scenario.append.clone();
    machine.limit = boot.limit();
    machine.stop = scenario.stop_ms.map(Duration::from_millis);
    let out = tempfile::Builder::new().prefix("whylate-lab-runs-").tempdir();
    let out = out.map_err(LabError::file("create", &std::env::temp_dir()))?;
    let visit = visit(boot, scenario, matrix);
    let visited = machine.run(&visit, out.path(), stop)?;
    let share = visited.total.as_secs_f64() / boot.runs.len().max(1) as f64;
    let results = boot.runs.iter().enumerate().map(|(number, run)| {
        let result = judged(run, &prefix(number), &visited, out.path(), scenario.cpus > 1, matrix);
        let mut result = result.unwrap_or_else(|why| RunResult::none(run, why));
        result.seconds = share;
        // As the guest reports it: the cache may have a newer kernel by now.
        result.release = visited.report.kernel.split(' ').next().unwrap_or_default().to_owned();
        result.notes.extend(problems(&visit.steps, &visited.report, scenario));
        result
    });
    Ok(results.collect())
}

fn prefix(number: usize) -> String {
    format!("run{number}")
}

fn visit(boot: &Boot, scenario: &Scenario, matrix: &Matrix) -> Visit {
    let runs =
        boot.runs.iter().enumerate().flat_map(|(number, run)| steps(run, &prefix(number), boot.kernel.arch));
    Visit {
        files: vec![GuestFile { from: matrix.injector.clone(), to: INJECT_PATH.to_owned() }],
        modules: modules(scenario),
        steps: settings(scenario).into_iter().chain(runs).collect(),
        ..Visit::default()
    }
}

/// The kernel modules that a scenario loads.
pub(crate) fn modules(scenario: &Scenario) -> Vec<(String, String)> {
    let of = |module: &String| {
        let (name, parameters) = module.split_once(' ').unwrap_or((module, ""));
        (name.to_owned(), parameters.trim().to_owned())
    };
    scenario.modules.iter().map(of).collect()
}

/// The settings that a scenario writes first.
pub(crate) fn settings(scenario: &Scenario) -> Vec<GuestStep> {
    let each = scenario.settings.iter().filter_map(|setting| split_setting(setting));
    let write = |(path, value, optional): (&str, &str, bool)| GuestStep::Write {
        path: path.to_owned(),
        value: value.to_owned(),
        optional,
    };
    each.map(write).collect()
}

/// Records the injector; or, where the recording is to be cut, the machine while the injector runs.
fn steps(run: &Run, prefix: &str, arch: Arch) -> Vec<GuestStep> {
    let scenario = &run.scenario;
    let inject = inject(run, arch);
    let mut record = vec![PROGRAM_PATH.to_owned(), "record".to_owned()];
    record.extend(scenario.record.iter().cloned());
    record.extend(["--output".to_owned(), format!("/out/{prefix}.dat")]);
    let program = |command, stdout: &str, background| {
        let (stdout, stderr) = (Some(format!("{prefix}.{stdout}")), Some(format!("{prefix}.{stdout}.err")));
        GuestStep::Run(Program { command, stdout, stderr, background, ..Program::default() })
    };
    if scenario.record_after_ms.is_none() && scenario.record_for.is_none() {
        record.push("--".to_owned());
        record.extend(inject);
        return vec![program(record, "json", false)];
    }
    let length = scenario.record_for.as_ref().unwrap_or(&scenario.duration);
    record.extend(["--duration".to_owned(), length.clone()]);
    vec![
        program(inject, "json", true),
        GuestStep::Sleep(scenario.record_after_ms.unwrap_or(0)),
        program(record, "record", false),
        GuestStep::Wait,
    ]
}

/// The injector's command line.
pub(crate) fn inject(run: &Run, arch: Arch) -> Vec<String> {
    let scenario = &run.scenario;
    let mut command = vec![INJECT_PATH.to_owned()];
    let arguments = scenario.inject.iter().chain(&run.sweep);
    command.extend(arguments.map(|argument| argument.replace(SPARE_SERIAL, arch.spare_serial())));
    if !scenario.inject.iter().any(|argument| argument == "--duration") {
        command.extend(["--duration".to_owned(), scenario.duration.clone()]);
    }
    command.extend(["--seed".to_owned(), run.seed.to_string()]);
    command
}

/// Explains the recording of a run and compares the explanation with the label.
fn judged(
    run: &Run,
    prefix: &str,
    visited: &Visited,
    out: &Path,
    several_cpus: bool,
    matrix: &Matrix,
) -> Result<RunResult, String> {
    let label_path = out.join(format!("{prefix}.json"));
    let text = std::fs::read_to_string(&label_path).map_err(|error| format!("no label: {error}"))?;
    let complaints = || complaints(out, prefix, &["json.err", "record.err"]);
    let label = Label::parse(&text).map_err(|error| format!("no label ({error}): {}", complaints()))?;
    let recording = out.join(format!("{prefix}.dat"));
    let explanation = explained(&recording, &label).map_err(|why| format!("{why}; {}", complaints()))?;
    let circumstances = Circumstances { host_noise: visited.time == TimeSource::Free || several_cpus };
    let judgement = judge(&label, &explanation, &run.expected, circumstances);
    let mut notes = visited.notes.clone();
    let kept = matrix.keep.as_ref().map(|keep| keep_files(keep, run, &recording, &label_path));
    let kept = match kept {
        Some(Err(error)) => {
            notes.push(error.to_string());
            None
        }
        Some(Ok(path)) => Some(path),
        None => None,
    };
    Ok(RunResult {
        scenario: run.scenario.name.clone(),
        programs: Vec::new(),
        kernel: run.kernel.clone(),
        release: String::new(),
        seed: run.seed,
        sweep: run.sweep.clone(),
        expected: expected_code(&run.expected, Some(&judgement)),
        end: End::from(judgement.outcome),
        late_jobs: label.late,
        causes_right: judgement.causes_right(),
        culprits_right: judgement.culprits_right(),
        said: said(&judgement),
        judgement: Some(judgement),
        notes,
        recording: kept,
        seconds: 0.0,
    })
}

/// What programs of a run wrote to standard error.
pub(crate) fn complaints(out: &Path, prefix: &str, names: &[&str]) -> String {
    let read =
        |name: &&str| std::fs::read_to_string(out.join(format!("{prefix}.{name}"))).unwrap_or_default();
    names.iter().map(read).collect::<String>().trim().chars().take(MOST_WORDS).collect()
}

/// Explains with a user's defaults, and once more with the victims chosen where these leave one out.
pub(crate) fn explained(recording: &Path, label: &Label) -> Result<Explanation, String> {
    let source =
        || whylate_intake::open(recording, whylate_ledger::WANTED).map_err(|error| error.to_string());
    let explanation = explain(source()?, &options(label, false));
    match has_victims(label, &explanation) {
        true => Ok(explanation),
        false => Ok(explain(source()?, &options(label, true))),
    }
}

/// Keeps recording and label as `KERNEL/SCENARIO-SEED[-SWEEP].dat` and `.json`.
fn keep_files(
    keep: &Path,
    run: &Run,
    recording: &Path,
    label: &Path,
) -> Result<std::path::PathBuf, LabError> {
    let plain = |text: &str| text.replace(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)), "_");
    let directory = keep.join(plain(&run.kernel));
    std::fs::create_dir_all(&directory).map_err(LabError::file("create", &directory))?;
    let sweep = if run.sweep.is_empty() { String::new() } else { format!("-{}", plain(&run.sweep.concat())) };
    let name = format!("{}-{}{sweep}", plain(&run.scenario.name), run.seed);
    let (dat, json) = (directory.join(format!("{name}.dat")), directory.join(format!("{name}.json")));
    std::fs::copy(recording, &dat).map_err(LabError::file("write", &dat))?;
    std::fs::copy(label, &json).map_err(LabError::file("write", &json))?;
    Ok(dat)
}

/// Failures in the guest apart from the runs: a setting it refused, a module it could not load.
fn problems(steps: &[GuestStep], report: &JobReport, scenario: &Scenario) -> Vec<String> {
    let modules = report.problems.iter().filter(|_| !scenario.modules.is_empty()).cloned();
    let settings =
        steps.iter().zip(&report.steps).filter_map(|(step, GuestStepReport { error, .. })| match step {
            GuestStep::Write { .. } => error.clone(),
            _ => None,
        });
    modules.chain(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Expectation, find};
    use std::sync::Arc;

    fn commands(name: &str, change: impl FnOnce(&mut Scenario)) -> Vec<String> {
        let mut scenario = find(name).expect(name);
        change(&mut scenario);
        let run = Run {
            scenario: Arc::new(scenario),
            kernel: "6.1".to_owned(),
            expected: Expectation::default(),
            seed: 7,
            sweep: Vec::new(),
        };
        let shown = |step: GuestStep| match step {
            GuestStep::Run(program) => {
                format!("{}{}", program.command.join(" "), if program.background { " &" } else { "" })
            }
            GuestStep::Sleep(time) => format!("sleep {time}"),
            other => format!("{other:?}"),
        };
        steps(&run, "run0", Arch::Arm64).into_iter().map(shown).collect()
    }

    #[test]
    fn the_injector_runs_inside_the_recording() {
        let commands = commands("higher", |scenario| scenario.record = vec!["--buffer".into(), "64".into()]);
        let inject = "/inject higher --duration 2s --seed 7";
        assert_eq!(commands, [format!("/whylate record --buffer 64 --output /out/run0.dat -- {inject}")]);
    }

    #[test]
    fn a_cut_recording_runs_beside_the_injector() {
        let commands = commands("higher", |scenario| {
            scenario.inject.extend(["--duration".into(), "5s".into()]);
            scenario.record_after_ms = Some(900);
            scenario.record_for = Some("1s".into());
        });
        assert_eq!(
            commands,
            [
                "/inject higher --duration 5s --seed 7 &",
                "sleep 900",
                "/whylate record --output /out/run0.dat --duration 1s",
                "Wait"
            ]
        );
    }

    #[test]
    fn a_port_is_one_of_the_guests_architecture() {
        let commands = commands("irq-load", |_| {});
        assert!(commands[0].contains("irq-load --port /dev/ttyS0 "), "{commands:?}");
    }
}
