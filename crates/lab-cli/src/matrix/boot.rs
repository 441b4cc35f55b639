//! One boot: from its runs to the guest's steps, and from their files to judgements.

use super::pair;
use super::plan::{Boot, Run};
use super::result::RunResult;
use super::settings::Matrix;
use super::steps::{INJECT_PATH, complaints, keep_files, label, modules, settings, steps};
use crate::judge::{Circumstances, has_victims, judge, options};
use crate::label::Label;
use crate::scenario::Scenario;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use whylate_lab::job::{GuestStep, GuestStepReport, JobReport};
use whylate_lab::{GuestFile, LabError, Machine, TimeSource, Visit, Visited};
use whylate_ledger::{Explanation, explain};

/// Boots the machine and judges every run.
pub(super) fn run(boot: &Boot, matrix: &Matrix, stop: &AtomicBool) -> Result<Vec<RunResult>, LabError> {
    let Some(scenario) = boot.scenario() else { return Ok(Vec::new()) };
    let machine = machine(boot, scenario, matrix);
    if let (Some(peer), [run]) = (&scenario.peer, boot.runs.as_slice()) {
        return Ok(vec![pair::run(run, peer, &machine, matrix, stop)?]);
    }
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

fn machine(boot: &Boot, scenario: &Scenario, matrix: &Matrix) -> Machine {
    let mut machine = Machine::new(boot.kernel.clone(), &matrix.whylate);
    machine.cpus = scenario.cpus;
    machine.time = boot.time();
    machine.append = scenario.append.clone();
    machine.limit = boot.limit();
    machine.stop = scenario.stop_ms.map(Duration::from_millis);
    machine
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

/// Explains the recording of a run and compares the explanation with the label.
fn judged(
    run: &Run,
    prefix: &str,
    visited: &Visited,
    out: &Path,
    several_cpus: bool,
    matrix: &Matrix,
) -> Result<RunResult, String> {
    let complaints = || complaints(out, prefix, &["json.err", "record.err"]);
    let label = label(out, prefix)?;
    let recording = out.join(format!("{prefix}.dat"));
    let explanation = explained(&recording, &label).map_err(|why| format!("{why}; {}", complaints()))?;
    let circumstances = Circumstances { host_noise: visited.time == TimeSource::Free || several_cpus };
    let judgement = judge(&label, &explanation, &run.expected, circumstances);
    let mut result = RunResult::judged(run, &label, judgement);
    result.notes.clone_from(&visited.notes);
    match matrix.keep.as_ref().map(|keep| keep_files(keep, run, "", out, prefix)) {
        Some(Err(error)) => result.notes.push(error.to_string()),
        kept => result.recording = kept.transpose().ok().flatten(),
    }
    Ok(result)
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
