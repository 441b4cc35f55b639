//! What came of a run.

use super::plan::Run;
use crate::judge::{JobRuling, Judgement, Outcome, Ruling};
use crate::scenario::{Expectation, Late};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;

/// What came of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunResult {
    /// The scenario's name.
    pub scenario: String,
    /// The kernel's name.
    pub kernel: String,
    /// Its `uname -r`, where it came up.
    pub release: String,
    /// The seed of names, phases and lengths.
    pub seed: u64,
    /// The arguments that this run of a sweep has and others have not.
    pub sweep: Vec<String>,
    /// The cause code that is right, or `nothing` where nobody may be accused.
    pub expected: String,
    /// What came of it.
    pub end: End,
    /// Late jobs by the injector's label.
    pub late_jobs: u64,
    /// True when every judged job has the right cause.
    pub causes_right: bool,
    /// True when every judged job names the right one too.
    pub culprits_right: bool,
    /// The judge's reasons; `None` where there was no run.
    pub judgement: Option<Judgement>,
    /// What was said, in a few words.
    pub said: String,
    /// Why there was no run, or what else is to be known.
    pub notes: Vec<String>,
    /// The recording, where it was kept.
    pub recording: Option<PathBuf>,
    /// Its share of its boot's time on the host.
    pub seconds: f64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Judged: see [`Outcome`].
    Right,
    /// As [`Outcome::Wrong`].
    Wrong,
    /// As [`Outcome::Unexplained`].
    Unexplained,
    /// As [`Outcome::NotProvoked`].
    NotProvoked,
    /// The guest did not come up, or the injector failed.
    NoRun,
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> End {
        match outcome {
            Outcome::Right => End::Right,
            Outcome::Wrong => End::Wrong,
            Outcome::Unexplained => End::Unexplained,
            Outcome::NotProvoked => End::NotProvoked,
        }
    }
}

impl End {
    /// As users read it.
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
    /// Of a run that did not come about.
    pub(super) fn none(run: &Run, why: String) -> RunResult {
        RunResult {
            scenario: run.scenario.name.clone(),
            kernel: run.kernel.clone(),
            release: String::new(),
            seed: run.seed,
            sweep: run.sweep.clone(),
            expected: expected_code(&run.expected, None),
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

/// The code a run counts for: the verdict that is right, or `nothing`.
pub(super) fn expected_code(expected: &Expectation, judgement: Option<&Judgement>) -> String {
    let none_late = judgement.is_some_and(|judgement| judgement.judged().next().is_none());
    match (expected.late, expected.causes.first()) {
        (Late::Some, Some(cause)) => cause.clone(),
        (Late::Maybe, Some(cause)) if !none_late => cause.clone(),
        _ => "nothing".to_owned(),
    }
}

/// What the verdicts say, most frequent first: `8 x higher-priority-task by axis12:99 (high)`.
pub(super) fn said(judgement: &Judgement) -> String {
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
