//! The result of a run.

use super::plan::Run;
use crate::judge::{Grade, JobRuling, Judgement, Ruling};
use crate::label::Label;
use crate::scenario::{Expectation, Late};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunResult {
    /// The scenario's name.
    pub scenario: String,
    /// The programs of a case made by other programs; empty for a scenario, whose fault `whylate-inject` makes.
    pub programs: Vec<String>,
    /// The kernel's name.
    pub kernel: String,
    /// Its `uname -r`, where it booted.
    pub release: String,
    /// The seed of names, phases and lengths.
    pub seed: u64,
    /// The arguments of this run of a sweep.
    pub sweep: Vec<String>,
    /// The right cause code, or `nothing` where no culprit may be named.
    pub expected: String,
    /// The result.
    pub end: End,
    /// Late jobs by the injector's label.
    pub late_jobs: u64,
    /// True when every judged job has the right cause.
    pub causes_right: bool,
    /// True when every judged job names the right culprit too.
    pub culprits_right: bool,
    /// The judge's reasons; `None` where the run failed.
    pub judgement: Option<Judgement>,
    /// The verdicts, summed up in a few words.
    pub said: String,
    /// The reason why the run failed, or other remarks.
    pub notes: Vec<String>,
    /// The path of the recording, if it was kept.
    pub recording: Option<PathBuf>,
    /// Its share of its boot's time on the host.
    pub seconds: f64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Judged: see [`Grade`].
    Right,
    /// As [`Grade::Wrong`].
    Wrong,
    /// As [`Grade::Unexplained`].
    Unexplained,
    /// As [`Grade::NotProvoked`].
    NotProvoked,
    /// The guest did not boot, or the injector failed.
    NoRun,
}

impl From<Grade> for End {
    fn from(outcome: Grade) -> End {
        match outcome {
            Grade::Right => End::Right,
            Grade::Wrong => End::Wrong,
            Grade::Unexplained => End::Unexplained,
            Grade::NotProvoked => End::NotProvoked,
        }
    }
}

impl End {
    /// The word that users read.
    pub fn word(self) -> &'static str {
        match self {
            End::Right => "right",
            End::Wrong => "WRONG",
            End::Unexplained => "unexplained",
            End::NotProvoked => "not provoked",
            End::NoRun => "no run",
        }
    }
}

impl RunResult {
    /// Of a run that was judged.
    pub(super) fn judged(run: &Run, label: &Label, judgement: Judgement) -> RunResult {
        RunResult {
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
            notes: Vec::new(),
            recording: None,
            seconds: 0.0,
        }
    }

    /// Of a run that failed.
    pub(super) fn none(run: &Run, why: String) -> RunResult {
        let expected = expected_code(&run.expected, None);
        RunResult {
            seed: run.seed,
            sweep: run.sweep.clone(),
            ..RunResult::no_run(&run.scenario.name, &run.kernel, expected, why)
        }
    }

    /// Of one that did not take place, without a seed.
    pub(crate) fn no_run(scenario: &str, kernel: &str, expected: String, why: String) -> RunResult {
        RunResult {
            scenario: scenario.to_owned(),
            programs: Vec::new(),
            kernel: kernel.to_owned(),
            release: String::new(),
            seed: 0,
            sweep: Vec::new(),
            expected,
            end: End::NoRun,
            late_jobs: 0,
            causes_right: false,
            culprits_right: false,
            judgement: None,
            said: String::new(),
            notes: vec![why],
            recording: None,
            seconds: 0.0,
        }
    }
}

/// The code that a run counts for: the right cause, or `nothing`.
fn expected_code(expected: &Expectation, judgement: Option<&Judgement>) -> String {
    let none_late = judgement.is_some_and(|judgement| judgement.judged().next().is_none());
    match (expected.late, expected.causes.first()) {
        (Late::Some, Some(cause)) => cause.clone(),
        (Late::Maybe, Some(cause)) if !none_late => cause.clone(),
        _ => "nothing".to_owned(),
    }
}

/// The verdicts, most frequent first: `8 x higher-priority-task by axis12:99 (high)`.
pub(crate) fn said(judgement: &Judgement) -> String {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for job in &judgement.jobs {
        *counts.entry(words(job)).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|(left, many), (right, more)| more.cmp(many).then(left.cmp(right)));
    let mut parts: Vec<String> =
        counts.iter().take(2).map(|(words, count)| format!("{count} x {words}")).collect();
    if counts.len() > 2 {
        parts.push(format!("{} more", counts.len() - 2));
    }
    parts.extend(judgement.false_findings.iter().map(|finding| format!("finding {finding}")));
    parts.extend(judgement.missing_findings.iter().map(|code| format!("no finding {code}")));
    parts.join(", ")
}

fn words(job: &JobRuling) -> String {
    let Some(cause) = &job.cause else { return "not seen".to_owned() };
    let by = job.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let confidence = job.confidence.map(|confidence| format!(" ({confidence})")).unwrap_or_default();
    let aside = if job.ruling == Ruling::Aside { ", by the host" } else { "" };
    format!("{cause}{by}{confidence}{aside}")
}
