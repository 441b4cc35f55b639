//! Both runs of each change: before, and after.

use super::answer::{chosen, worst_cause};
use super::judge::{direction, error};
use super::{PredictResult, PredictedChange, ThreadPrediction};
use crate::label::Label;
use crate::matrix::{Matrix, Run, is_final};
use crate::rerun::{Ran, Rerun, RerunError, rerun};
use crate::scenario::{Scenario, find};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use whylate_lab::{Kernel, LabError};

/// What to run.
#[derive(Clone, Debug)]
pub struct PredictRuns {
    /// The changes.
    pub changes: Vec<PredictedChange>,
    /// Every kernel that they name.
    pub kernels: Vec<Kernel>,
    /// The directory for the recordings.
    pub directory: PathBuf,
}

/// A recording with its label.
type Recorded = (PathBuf, Label);

/// Runs each scenario before and after each change, and compares the truth with the prediction; `report` gets each result.
///
/// # Errors
/// When a second try cannot help: QEMU or a program is missing, or the run was interrupted.
pub fn run(
    runs: &PredictRuns,
    matrix: &Matrix,
    stop: &AtomicBool,
    mut report: impl FnMut(&PredictResult),
) -> Result<Vec<PredictResult>, LabError> {
    let mut before: HashMap<(String, String), Recorded> = HashMap::new();
    let mut results = Vec::new();
    for (number, change) in runs.changes.iter().enumerate() {
        let session = Session { runs, matrix, stop, change, number };
        let key = (change.scenario.clone(), change.kernel.clone());
        let known = match before.get(&key) {
            Some(known) => Ok(known.clone()),
            None => session.before(),
        };
        let result = match known {
            Err(RerunError::Lab(error)) if is_final(&error) => return Err(error),
            Err(error) => PredictResult::failed(change, format!("before: {error}")),
            Ok(known) => {
                before.insert(key, known.clone());
                match session.after() {
                    Err(RerunError::Lab(error)) if is_final(&error) => return Err(error),
                    Err(error) => PredictResult::failed(change, format!("after: {error}")),
                    Ok(after) => session
                        .compared(&known, &after)
                        .unwrap_or_else(|why| PredictResult::failed(change, why)),
                }
            }
        };
        report(&result);
        results.push(result);
    }
    Ok(results)
}

struct Session<'a> {
    runs: &'a PredictRuns,
    matrix: &'a Matrix,
    stop: &'a AtomicBool,
    change: &'a PredictedChange,
    number: usize,
}

impl Session<'_> {
    fn scenario(&self) -> Result<Scenario, RerunError> {
        find(&self.change.scenario).map_err(|error| RerunError::NoResult(error.to_string()))
    }

    fn before(&self) -> Result<Recorded, RerunError> {
        self.recorded(self.scenario()?, &self.change.kernel, None, "before")
    }

    fn after(&self) -> Result<Recorded, RerunError> {
        let mut scenario = self.scenario()?;
        if let Some(inject) = &self.change.inject {
            scenario.inject.clone_from(inject);
        }
        scenario.settings.extend(self.change.settings.iter().cloned());
        let kernel = self.change.after_kernel.as_ref().unwrap_or(&self.change.kernel);
        self.recorded(scenario, kernel, self.document(), "after")
    }

    /// What `whylate apply --from` reads.
    fn document(&self) -> Option<Value> {
        let action = self.change.action.as_ref()?;
        let title = &self.change.title;
        let fix = json!({"text": title, "action": action});
        let finding = json!({"code": "prediction", "severity": "warning", "title": title, "why": "", "evidence": [],
                             "fix": [], "fixes": [fix]});
        Some(json!({"schema": "whylate.explain/1", "findings": [finding]}))
    }

    /// A run, twice where the guest fails.
    fn recorded(
        &self,
        scenario: Scenario,
        kernel: &str,
        apply: Option<Value>,
        what: &str,
    ) -> Result<Recorded, RerunError> {
        let known = self.runs.kernels.iter().find(|one| one.name == kernel).cloned();
        let kernel = known.ok_or_else(|| RerunError::NoResult(format!("no kernel {kernel}")))?;
        let run = Run {
            expected: scenario.expectation(&kernel.name).cloned().unwrap_or_default(),
            scenario: Arc::new(scenario),
            kernel: kernel.name.clone(),
            seed: 0,
            sweep: Vec::new(),
        };
        let way = Rerun { run, kernel, apply, settled: true };
        let out = self.runs.directory.join(format!("{:02}-{what}", self.number));
        std::fs::create_dir_all(&out).map_err(LabError::file("create", &out))?;
        let ran = match rerun(&way, self.matrix, &out, self.stop) {
            Err(RerunError::Lab(error)) if !is_final(&error) => rerun(&way, self.matrix, &out, self.stop),
            other => other,
        };
        let Ran { label, recording, .. } = ran?;
        Ok((recording, label))
    }

    fn compared(&self, before: &Recorded, after: &Recorded) -> Result<PredictResult, String> {
        let victims: Vec<&str> = before.1.of_part("victim").map(|member| member.name.as_str()).collect();
        let threads = |recording: &Path, names: &[&str], more: &[String]| {
            let mut options: Vec<String> =
                names.iter().flat_map(|name| ["--task".to_owned(), (*name).to_owned()]).collect();
            options.extend(more.iter().cloned());
            document(&self.matrix.whylate, "simulate", recording, &options)
        };
        let predicted = threads(&before.0, &victims, &self.change.simulate)?;
        let mut result = PredictResult::failed(self.change, String::new());
        for thread in chosen(&predicted) {
            // A removed thread has no prediction, and a change of all threads of a name is one of each.
            let (Some(was), Some(will)) = (thread.recorded, thread.predicted) else { continue };
            let truth = threads(&after.0, &[&thread.name], &[])?;
            let Some(is) = chosen(&truth).into_iter().find_map(|one| one.recorded) else { continue };
            let explained = document(
                &self.matrix.whylate,
                "explain",
                &after.0,
                &["--task".to_owned(), thread.name.clone()],
            )?;
            let limit = before.1.limit_ns.0;
            result.threads.push(ThreadPrediction {
                victim: victims.contains(&thread.name.as_str()),
                before: was,
                predicted: will,
                after: is,
                replay_error: thread.error,
                p50_error: error(will.p50, is.p50),
                p99_error: will.p99.zip(is.p99).map(|(predicted, true_one)| error(predicted, true_one)),
                max_error: error(will.max, is.max),
                predicted_direction: direction(was.max, will.max),
                direction: direction(was.max, is.max),
                predicted_cause: worst_cause(&predicted, &thread.name, limit),
                cause: worst_cause(&explained, &thread.name, limit),
                name: thread.name,
            });
        }
        match result.threads.iter().any(|thread| thread.victim) {
            true => Ok(result),
            false => Err("the late thread is not in both recordings and the prediction".to_owned()),
        }
    }
}

/// The JSON document of a verb.
fn document(whylate: &Path, verb: &str, recording: &Path, options: &[String]) -> Result<Value, String> {
    let output = Command::new(whylate).arg(verb).arg(recording).arg("--json").args(options).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", whylate.display()))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        // The directory is a temporary one, and a page may quote this.
        let directory = recording.parent().map(|parent| format!("{}/", parent.display())).unwrap_or_default();
        let said = if directory.is_empty() { said.into_owned() } else { said.replace(&directory, "") };
        format!("`whylate {verb}` gave no document ({error}): {}", said.trim())
    })
}
