//! The comparison of an explanation with the injector's label.
//!
//! Each late job of the label is compared with the victim's activation that it is part of. A
//! verdict that names a wrong cause, or a right cause and a wrong culprit, is a *wrong accusation*;
//! one that names no culprit (`unexplained`, `trace-loss`, `timer-late` ...) is *unexplained*. Of two machines the round trip of
//! the job is compared, see `judge/pair.rs`.

mod accused;
mod circumstances;
mod findings;
mod pair;

pub(crate) use accused::{Named, name as culprit_name, named};
pub use circumstances::Circumstances;
pub(crate) use findings::NEUTRAL;
pub(crate) use pair::judge_pair;

use crate::label::{Label, LateJob};
use crate::scenario::{Expectation, Late};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashSet;
use whylate_base::{Confidence, Ns};
use whylate_ledger::{Activation, Cause, Explanation, Options, Select};

/// The grade of one run's explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Every late job has the right cause and culprit, the expected findings are there, and no other culprit is
    /// named.
    Right,
    /// A verdict or a finding names a wrong cause or culprit.
    Wrong,
    /// No wrong culprit is named, but a late job has no cause or no culprit, or a finding is missing.
    Unexplained,
    /// The fault made no job late: a failure of the lab, not of the analysis.
    NotProvoked,
}

/// The judgement of one late job's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// Cause and culprit are right.
    Right,
    /// The cause is right; the verdict names no culprit.
    NobodyNamed,
    /// The verdict names no cause.
    Unexplained,
    /// The cause or the culprit is wrong.
    Wrong,
    /// Not judged: the host took the CPU from the guest, which the label does not show; the job is the last one of
    /// a thread, whose activation lasts until the thread ends; the job began before the recording, and the verdict
    /// accuses nothing else; or the scenario excludes this cause.
    Aside,
}

/// One late job, with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobRuling {
    /// When the job was due.
    #[schemars(with = "i64")]
    pub due_ns: Ns,
    /// The judgement.
    pub ruling: Ruling,
    /// True when the cause is right, with any culprit.
    pub cause_right: bool,
    /// The verdict's cause code; `None` where the explanation has no such activation.
    pub cause: Option<String>,
    /// The culprit that the verdict names.
    pub by: Option<String>,
    /// The confidence of the verdict.
    #[schemars(with = "Option<whylate_report::explain::json::document::Confidence>")]
    pub confidence: Option<Confidence>,
    /// Its time beyond the victim's usual response.
    #[schemars(with = "i64")]
    pub late_ns: Ns,
    /// How much of that is charged to `unexplained`.
    #[schemars(with = "i64")]
    pub unexplained_ns: Ns,
}

/// The grade of one run, with the reasons.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Judgement {
    /// The grade.
    pub outcome: Grade,
    /// Each late job that the recording covers.
    pub jobs: Vec<JobRuling>,
    /// The number of late jobs that the recording does not cover.
    pub not_recorded: usize,
    /// Findings that name a wrong culprit.
    pub false_findings: Vec<String>,
    /// Expected findings that are missing.
    pub missing_findings: Vec<String>,
}

impl Judgement {
    /// True when every judged job has the right cause, with any culprit.
    pub fn causes_right(&self) -> bool {
        self.judged().all(|job| job.cause_right)
    }

    /// True when every judged job names the right culprit, or none where there is none.
    pub fn culprits_right(&self) -> bool {
        self.judged().all(|job| job.ruling == Ruling::Right)
    }

    /// The jobs that are not set aside.
    pub fn judged(&self) -> impl Iterator<Item = &JobRuling> {
        self.jobs.iter().filter(|job| job.ruling != Ruling::Aside)
    }

    /// Time beyond the usual of all judged jobs, and how much of it is unexplained.
    pub fn late_time(&self) -> (Ns, Ns) {
        let late = self.judged().map(|job| job.late_ns).sum();
        (late, self.judged().map(|job| job.unexplained_ns).sum())
    }
}

/// The options of the explanation that [`judge`] needs: a user's defaults, without a choice of threads, unless
/// these leave out a victim; every activation is kept.
pub fn options(label: &Label, select_victims: bool) -> Options {
    let victims = label.of_part("victim").map(|member| Select::Tid(member.tid));
    Options {
        tasks: if select_victims { victims.collect() } else { Vec::new() },
        worst: usize::try_from(label.jobs).unwrap_or(usize::MAX).saturating_mul(2).clamp(100, 20_000),
        ..Options::default()
    }
}

/// True when `explanation`, made without choosing threads, has every victim.
pub fn has_victims(label: &Label, explanation: &Explanation) -> bool {
    label.of_part("victim").all(|victim| explanation.tasks.iter().any(|task| task.tid == victim.tid))
}

/// Judges the explanation of a recorded run.
pub fn judge(
    label: &Label,
    explanation: &Explanation,
    expected: &Expectation,
    circumstances: Circumstances,
) -> Judgement {
    let victims: Vec<&Activation> =
        explanation.activations.iter().filter(|activation| label.is_victim(activation.tid)).collect();
    let covered =
        |job: &&LateJob| explanation.trace.span.is_some_and(|(start, end)| job.done > start && job.due < end);
    let late: Vec<&LateJob> = label.late_jobs.iter().filter(covered).collect();
    let matched: Vec<(&LateJob, Option<&Activation>)> =
        late.iter().map(|job| (*job, activation_of(job, &victims))).collect();
    let usual = usual(&victims, &matched);
    let jobs: Vec<JobRuling> = matched
        .iter()
        .map(|(job, activation)| {
            let mut ruling = of_job(label, job, *activation, usual, expected, circumstances);
            let is_aside = |activation: &Activation| {
                ends_with_thread(label, job, activation, &victims)
                    || (begins_before(job, explanation) && !accuses_another(activation.verdict.cause))
            };
            if activation.is_some_and(is_aside) {
                ruling.ruling = Ruling::Aside;
            }
            ruling
        })
        .collect();
    let faults = label.late_jobs.iter().filter_map(|job| job.fault.as_deref());
    let faults: HashSet<&str> = faults.collect();
    let mut judgement = Judgement {
        outcome: Grade::Right,
        not_recorded: label.late_jobs.len() - late.len(),
        false_findings: findings::wrong(label, explanation, expected, &faults, circumstances),
        missing_findings: findings::missing(explanation, expected),
        jobs,
    };
    judgement.outcome = outcome(&judgement, expected.late);
    judgement
}

fn outcome(judgement: &Judgement, late: Late) -> Grade {
    let any = |ruling| judgement.jobs.iter().any(|job| job.ruling == ruling);
    if any(Ruling::Wrong) || !judgement.false_findings.is_empty() {
        Grade::Wrong
    } else if late == Late::Some && judgement.judged().next().is_none() {
        Grade::NotProvoked
    } else if any(Ruling::Unexplained) || any(Ruling::NobodyNamed) || !judgement.missing_findings.is_empty() {
        Grade::Unexplained
    } else {
        Grade::Right
    }
}

/// The victim's activation that the job was part of: the last one that had begun when the job
/// started, or, where the trace begins later than that, when it was done.
fn activation_of<'a>(job: &LateJob, victims: &[&'a Activation]) -> Option<&'a Activation> {
    let holds = |at: Ns| {
        victims
            .iter()
            .filter(|activation| job.tid.is_none_or(|tid| tid == activation.tid))
            .filter(|activation| activation.due <= at && at <= activation.end)
            .max_by_key(|activation| activation.due)
            .copied()
    };
    // Where the trace ends while the job waits, the activation holds neither: but it holds `due`,
    // with a tolerance between the job's clock and the timer's expiry.
    holds(job.start).or_else(|| holds(job.done)).or_else(|| holds(job.due + Ns::from_us(100)))
}

/// True when the activation goes on past the job by more than what counts as late, to the end of its thread.
fn ends_with_thread(label: &Label, job: &LateJob, activation: &Activation, victims: &[&Activation]) -> bool {
    let is_last = !victims.iter().any(|other| other.tid == activation.tid && other.due > activation.due);
    is_last && activation.end.since(job.done) > label.limit_ns
}

/// True when the recording begins in the middle of the job: what delayed it may have happened before.
fn begins_before(job: &LateJob, explanation: &Explanation) -> bool {
    explanation.trace.span.is_some_and(|(start, _)| job.due < start)
}

fn accuses_another(cause: Cause) -> bool {
    cause.accuses() && !cause.accuses_late_thread()
}

/// The victim's usual response: the median of its activations that were not late.
fn usual(victims: &[&Activation], matched: &[(&LateJob, Option<&Activation>)]) -> Ns {
    let late: HashSet<Ns> =
        matched.iter().filter_map(|(_, activation)| activation.map(|activation| activation.due)).collect();
    let mut responses: Vec<Ns> = victims
        .iter()
        .filter(|activation| activation.is_whole() && !late.contains(&activation.due))
        .map(|activation| activation.response())
        .collect();
    responses.sort_unstable();
    responses.get(responses.len() / 2).copied().unwrap_or_default()
}

fn of_job(
    label: &Label,
    job: &LateJob,
    activation: Option<&Activation>,
    usual: Ns,
    expected: &Expectation,
    circumstances: Circumstances,
) -> JobRuling {
    let Some(activation) = activation else {
        let late_ns = job.done.since(job.due);
        return JobRuling {
            due_ns: job.due,
            ruling: Ruling::Unexplained,
            cause_right: false,
            cause: None,
            by: None,
            confidence: None,
            late_ns,
            unexplained_ns: late_ns,
        };
    };
    let verdict = &activation.verdict;
    let late_ns = activation.response().since(usual);
    let unexplained = activation.ledger.iter().filter(|segment| segment.cause == Cause::Unexplained);
    JobRuling {
        due_ns: job.due,
        ruling: rule(label, job, activation, expected, circumstances),
        cause_right: is_right(job, verdict.cause, expected),
        cause: Some(verdict.cause.code().to_owned()),
        by: verdict.by.as_ref().map(accused::name),
        confidence: Some(verdict.confidence),
        late_ns,
        unexplained_ns: unexplained.map(|segment| segment.length()).sum::<Ns>().min(late_ns),
    }
}

fn rule(
    label: &Label,
    job: &LateJob,
    activation: &Activation,
    expected: &Expectation,
    circumstances: Circumstances,
) -> Ruling {
    let verdict = &activation.verdict;
    if !is_right(job, verdict.cause, expected) {
        return match verdict.cause {
            Cause::Stolen if circumstances.host_noise => Ruling::Aside,
            cause if expected.not_judged.iter().any(|aside| aside == cause.code()) => Ruling::Aside,
            cause if !cause.accuses() => Ruling::Unexplained,
            _ => Ruling::Wrong,
        };
    }
    // A delay that a victim causes itself has no culprit, whatever other threads do in the run.
    let itself = job.fault.as_deref().and_then(Cause::from_code).is_some_and(Cause::accuses_late_thread);
    let culprits: &[String] = if itself { &[] } else { &expected.culprits };
    match named(label, activation.tid, verdict.by.as_ref(), culprits) {
        Named::Rightly => Ruling::Right,
        Named::Missing => Ruling::NobodyNamed,
        Named::Wrongly => Ruling::Wrong,
    }
}

fn is_right(job: &LateJob, cause: Cause, expected: &Expectation) -> bool {
    match &job.fault {
        Some(fault) => fault == cause.code(),
        None => expected.causes.iter().any(|right| right == cause.code()),
    }
}

#[cfg(test)]
mod tests;
