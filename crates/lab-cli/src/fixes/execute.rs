//! The runs, the advice, and the runs after it.

use super::{FirstAdvice, FirstFix, FixEnd, FixResult, FixRoute, Lateness, compare, first_advice};
use crate::label::Label;
use crate::matrix::{self, Matrix, Run, RunResult, is_final};
use crate::rerun::{Rerun, RerunError, rerun};
use crate::scenario::{Late, Scenario};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use whylate_lab::{Kernel, LabError};

/// What to run.
#[derive(Clone, Debug)]
pub struct FixRuns {
    /// The scenarios; those that make nothing late are left out.
    pub scenarios: Vec<Arc<Scenario>>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// Kernels for mended twins, by name.
    pub twins: Vec<Kernel>,
    /// The seed.
    pub seed: u64,
    /// Guests get at least so many CPUs, on kernels that run several in virtual time.
    pub cpus: u32,
}

/// Runs each scenario, follows its first advice, and runs it again; `report` gets each result. Recordings are in the matrix'
/// directory, which must be one.
///
/// # Errors
/// When a second try cannot help: QEMU or a program is missing, or the run was interrupted.
pub fn run(
    runs: &FixRuns,
    matrix: &Matrix,
    stop: &AtomicBool,
    mut report: impl FnMut(&FixResult),
) -> Result<Vec<FixResult>, LabError> {
    let mut results = Vec::new();
    for kernel in &runs.kernels {
        let scenarios: Vec<Arc<Scenario>> =
            runs.scenarios.iter().filter_map(|scenario| late_scenario(scenario, kernel, runs.cpus)).collect();
        let boots = matrix::plan(&scenarios, std::slice::from_ref(kernel), &[runs.seed], false);
        let before = matrix::run(boots, matrix, stop, |_| {})?;
        for scenario in &scenarios {
            let own = before.iter().filter(|result| result.scenario == scenario.name);
            // Of a sweep the run that made the most late.
            let Some(before) = own.max_by_key(|result| (result.recording.is_some(), result.late_jobs)) else {
                continue;
            };
            let case = Case { scenario, kernel, before, runs, matrix };
            let result = case.result(stop)?;
            report(&result);
            results.push(result);
        }
    }
    Ok(results)
}

/// The scenario with enough CPUs, if it makes something late on that kernel.
fn late_scenario(scenario: &Arc<Scenario>, kernel: &Kernel, cpus: u32) -> Option<Arc<Scenario>> {
    let expected = scenario.expectation(&kernel.name)?;
    if expected.late == Late::None || !scenario.applies_to(&kernel.name) || !scenario.is_for(kernel.arch) {
        return None;
    }
    let mut scenario = Scenario::clone(scenario);
    if kernel.has_virtual_smp() {
        scenario.cpus = scenario.cpus.max(cpus);
    }
    Some(Arc::new(scenario))
}

/// One scenario on one kernel.
struct Case<'a> {
    scenario: &'a Arc<Scenario>,
    kernel: &'a Kernel,
    before: &'a RunResult,
    runs: &'a FixRuns,
    matrix: &'a Matrix,
}

/// A second run, how it came about, and the note about it.
type Followed = (Rerun, FixRoute, String);

impl Case<'_> {
    fn result(&self, stop: &AtomicBool) -> Result<FixResult, LabError> {
        let begun = Instant::now();
        let mut result = self.nothing();
        let Some(recording) = &self.before.recording else {
            return Ok(result);
        };
        let advice = match self.before(recording, &mut result) {
            Ok(advice) => advice,
            Err(why) => return Ok(FixResult { end: FixEnd::NoRun, note: why, ..result }),
        };
        if result.before.late == 0 {
            return Ok(FixResult { end: FixEnd::NotProvoked, ..result });
        }
        let Some(advice) = advice else {
            let note = "the explanation advises nothing".to_owned();
            return Ok(FixResult { end: FixEnd::ByHand, note, ..result });
        };
        result.code.clone_from(&advice.code);
        result.fix.clone_from(&advice.text);
        let followed = self.ways(&advice);
        if followed.is_empty() {
            return Ok(FixResult { end: FixEnd::ByHand, ..result });
        }
        for (rerun, route, note) in followed {
            result.route = route;
            self.follow(&rerun, note, &mut result, stop)?;
            if result.end.is_judged() {
                break;
            }
        }
        result.seconds = begun.elapsed().as_secs_f64();
        Ok(result)
    }

    fn nothing(&self) -> FixResult {
        FixResult {
            scenario: self.scenario.name.clone(),
            kernel: self.kernel.name.clone(),
            cpus: self.scenario.cpus,
            seed: self.runs.seed,
            code: String::new(),
            fix: String::new(),
            route: FixRoute::None,
            applied: Vec::new(),
            before: Lateness::default(),
            after: None,
            end: FixEnd::NoRun,
            new_findings: Vec::new(),
            note: self.before.notes.first().cloned().unwrap_or_default(),
            seconds: 0.0,
        }
    }

    /// How late it was, and what is advised.
    fn before(&self, recording: &Path, result: &mut FixResult) -> Result<Option<FirstAdvice>, String> {
        let text = std::fs::read_to_string(recording.with_extension("json"))
            .map_err(|error| format!("no label: {error}"))?;
        let label = Label::parse(&text).map_err(|error| format!("no label: {error}"))?;
        let host_noise = self.scenario.cpus > 1 || self.scenario.time == whylate_lab::TimeSource::Free;
        result.before = Lateness::of(&label, recording, host_noise, None)?;
        let cause = result.before.usual_cause();
        let explained = |tasks: &[String]| explained(&self.matrix.whylate, recording, tasks);
        let document = explained(&[])?;
        let late: Vec<i64> = label.of_part("victim").map(|victim| i64::from(victim.tid.0)).collect();
        let advice = first_advice(&document, cause, &late);
        // A user whose thread the defaults leave out chooses it.
        if advice.as_ref().is_some_and(|advice| cause.is_some_and(|cause| advice.code == cause)) {
            return Ok(advice);
        }
        let victims: Vec<String> = label
            .of_part("victim")
            .flat_map(|victim| ["--task".to_owned(), victim.tid.to_string()])
            .collect();
        Ok(first_advice(&explained(&victims)?, cause, &late).or(advice))
    }

    /// The second runs that follow the advice, the first that can be made counts.
    fn ways(&self, advice: &FirstAdvice) -> Vec<Followed> {
        let with = |scenario: Scenario, kernel: &Kernel, apply: Option<Value>| {
            let run = Run {
                expected: scenario.expectation(&kernel.name).cloned().unwrap_or_default(),
                scenario: Arc::new(scenario),
                kernel: kernel.name.clone(),
                seed: self.runs.seed,
                sweep: self.before.sweep.clone(),
            };
            Rerun { run, kernel: kernel.clone(), settled: apply.is_some(), apply }
        };
        let own = || Scenario::clone(self.scenario);
        let boot = |line: &str| {
            let mut scenario = own();
            scenario.append.push(line.to_owned());
            (with(scenario, self.kernel, None), FixRoute::KernelParameters, line.to_owned())
        };
        let mut ways: Vec<Followed> = match &advice.fix {
            FirstFix::Settings(document) => {
                vec![(with(own(), self.kernel, Some(document.clone())), FixRoute::Settings, String::new())]
            }
            FirstFix::Parameters(line) => vec![boot(line)],
            FirstFix::Code(_) => Vec::new(),
        };
        if let (FirstFix::Settings(_), Some(line)) = (&advice.fix, &advice.parameters) {
            ways.push(boot(line));
        }
        if let Some(twin) = &self.scenario.mended {
            let kernel = match twin.preempt_rt {
                true => {
                    self.runs.twins.iter().find(|kernel| kernel.name == format!("{}-rt", self.kernel.name))
                }
                false => Some(self.kernel),
            };
            if let Some(kernel) = kernel {
                let mut scenario = own();
                if !twin.inject.is_empty() {
                    scenario.inject.clone_from(&twin.inject);
                }
                if twin.preempt_rt && !kernel.has_virtual_smp() {
                    scenario.cpus = 1;
                }
                let note =
                    if twin.preempt_rt { format!("on {}", kernel.name) } else { twin.inject.join(" ") };
                ways.push((with(scenario, kernel, None), FixRoute::Twin, note));
            }
        }
        ways
    }

    /// Runs with the fix, twice where the guest fails.
    fn follow(
        &self,
        way: &Rerun,
        note: String,
        result: &mut FixResult,
        stop: &AtomicBool,
    ) -> Result<(), LabError> {
        let ran = || {
            let out = tempfile::Builder::new().prefix("whylate-lab-fixes-").tempdir();
            let out = out.map_err(LabError::file("create", &std::env::temp_dir()))?;
            rerun(way, self.matrix, out.path(), stop).map(|ran| (ran, out))
        };
        let ran = match ran() {
            Err(RerunError::Lab(error)) if is_final(&error) => return Err(error),
            Err(RerunError::Lab(_)) => ran(),
            other => other,
        };
        match ran {
            Err(RerunError::Lab(error)) if is_final(&error) => return Err(error),
            Err(RerunError::Refused(why)) => (result.end, result.note) = (FixEnd::NotMade, why),
            Err(error) => (result.end, result.note) = (FixEnd::NoRun, error.to_string()),
            Ok((ran, _out)) => {
                self.keep(&ran.recording);
                match Lateness::of(&ran.label, &ran.recording, ran.host_noise, Some(&result.before)) {
                    Err(why) => (result.end, result.note) = (FixEnd::NoRun, why),
                    Ok(after) => {
                        result.end = compare(&result.before, &after);
                        result.applied = if note.is_empty() { ran.applied } else { vec![note.clone()] };
                        let known = &result.before.findings;
                        let new = after.findings.iter().filter(|code| !known.contains(code));
                        result.new_findings = new.cloned().collect();
                        result.note = String::new();
                        result.after = Some(after);
                    }
                }
            }
        }
        Ok(())
    }

    /// Keeps the second recording beside the first; for reading only, so its failure is none.
    fn keep(&self, recording: &Path) {
        if let Some(first) = &self.before.recording {
            let _ = std::fs::copy(recording, first.with_extension("fixed.dat"));
        }
    }
}

/// The document of `whylate explain --json`.
fn explained(whylate: &Path, recording: &Path, tasks: &[String]) -> Result<Value, String> {
    let output = Command::new(whylate).arg("explain").arg(recording).arg("--json").args(tasks).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", whylate.display()))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("`whylate explain` gave no document ({error}): {}", said.trim())
    })
}
