//! The comparison of an explanation with a case's label.
//!
//! Judged are the worst late activations of the victims. A program starts and ends: the first and the last activation
//! of a thread count only where the case states so.

use super::{Case, Fault, Victims};
use crate::judge::{Grade, JobRuling, Judgement, NEUTRAL, Named, Ruling, culprit_name, named};
use crate::label::Label;
use std::collections::{BTreeSet, HashMap};
use whylate_base::{Confidence, Finding, Ns, Severity, Tid};
use whylate_ledger::{Activation, Cause, Explanation, Options, Select};

/// So many late activations are judged, the worst ones.
const WORST: usize = 10;
/// So many are kept of each thread, to find its first and its last one: all of them in a case of some seconds.
const KEPT: usize = 50_000;

/// The explanation of all threads that are called as a victim, with a user's defaults otherwise.
pub(super) fn options(case: &Case) -> Options {
    let tasks = case.victims.iter().map(|name| Select::Comm(name.clone())).collect();
    Options { tasks, worst: KEPT, ..Options::default() }
}

/// The explanation that [`judge`] needs, where the label is about fewer threads than have these names: cyclictest's main
/// thread is called as those that measure, and is not real-time.
pub(super) fn of_victims(case: &Case, of_names: &Explanation) -> Option<Options> {
    let victims = of_names.activations.iter().filter(|activation| is_judged(case, activation));
    let tids: BTreeSet<Tid> = victims.map(|activation| activation.tid).collect();
    let others = of_names.activations.iter().any(|activation| !tids.contains(&activation.tid));
    let tasks = tids.into_iter().map(Select::Tid).collect::<Vec<_>>();
    (others && !tasks.is_empty()).then(|| Options { tasks, worst: KEPT, ..Options::default() })
}

fn is_judged(case: &Case, activation: &Activation) -> bool {
    case.victims.iter().any(|name| name.as_str() == activation.comm.as_str())
        && (case.judged == Victims::Any || activation.priority.is_realtime())
}

/// Judges the explanation of a recorded case. `host_noise`: the host may have taken time from the guest.
pub(super) fn judge(case: &Case, kernel: &str, explanation: &Explanation, host_noise: bool) -> Judgement {
    let faults: Vec<&Fault> = case.faults_on(kernel).collect();
    let all = candidates(case, explanation);
    let worst: Vec<&Activation> = all.iter().take(WORST).copied().collect();
    let late: Vec<&Activation> =
        worst.iter().filter(|activation| activation.response() >= case.late()).copied().collect();
    let jobs: Vec<JobRuling> =
        late.iter().map(|activation| of_activation(case, &faults, activation, host_noise)).collect();
    // One of two faults may make all of the worst ones late.
    let found = |fault: &&Fault| {
        let is_late = |activation: &&&Activation| activation.response() >= case.late();
        all.iter().filter(is_late).any(|activation| rule(fault, activation) == Ruling::Right)
            || explanation.findings.iter().any(|finding| is_of(fault, finding))
    };
    let missing = faults.iter().filter(|fault| !found(fault)).map(|fault| fault.causes.join(" or "));
    let mut judgement = Judgement {
        outcome: Grade::Right,
        missing_findings: missing.collect(),
        false_findings: false_findings(case, &faults, explanation, &worst, host_noise),
        not_recorded: 0,
        jobs,
    };
    judgement.outcome = outcome(&judgement);
    judgement
}

fn outcome(judgement: &Judgement) -> Grade {
    let count = |ruling| judgement.jobs.iter().filter(|job| job.ruling == ruling).count();
    if count(Ruling::Wrong) > 0 || !judgement.false_findings.is_empty() {
        Grade::Wrong
    } else if !judgement.missing_findings.is_empty()
        || count(Ruling::Unexplained) + count(Ruling::NobodyNamed) > count(Ruling::Right)
    {
        Grade::Unexplained
    } else {
        Grade::Right
    }
}

/// The victims' activations that may be judged, worst response first.
fn candidates<'a>(case: &Case, explanation: &'a Explanation) -> Vec<&'a Activation> {
    let mut edges: HashMap<Tid, (Ns, Ns)> = HashMap::new();
    for activation in &explanation.activations {
        let (first, last) = edges.entry(activation.tid).or_insert((activation.due, activation.due));
        (*first, *last) = ((*first).min(activation.due), (*last).max(activation.due));
    }
    let inner = |activation: &&Activation| {
        let is_inner = |(first, last): &(Ns, Ns)| activation.due > *first && activation.due < *last;
        !activation.is_start_or_end() && edges.get(&activation.tid).is_some_and(is_inner)
    };
    let all = explanation.activations.iter().filter(|activation| is_judged(case, activation));
    let mut candidates: Vec<&Activation> = all.filter(|activation| case.edges || inner(activation)).collect();
    candidates.sort_by_key(|activation| std::cmp::Reverse(activation.response()));
    candidates
}

fn of_activation(case: &Case, faults: &[&Fault], activation: &Activation, host_noise: bool) -> JobRuling {
    let verdict = &activation.verdict;
    let is_cause = |fault: &&&Fault| fault.causes.iter().any(|code| code == verdict.cause.code());
    let rulings: Vec<Ruling> = faults.iter().filter(is_cause).map(|fault| rule(fault, activation)).collect();
    let best =
        [Ruling::Right, Ruling::NobodyNamed, Ruling::Wrong].into_iter().find(|one| rulings.contains(one));
    let aside = case.may.iter().any(|code| code == verdict.cause.code())
        || (host_noise && verdict.cause == Cause::Stolen);
    let ruling = match best {
        Some(Ruling::Wrong) | None if aside => Ruling::Aside,
        Some(Ruling::Wrong) | None if !is_accusation(activation) => Ruling::Unexplained,
        None => Ruling::Wrong,
        Some(best) => best,
    };
    let unexplained = activation.ledger.iter().filter(|segment| segment.cause == Cause::Unexplained);
    JobRuling {
        due_ns: activation.due,
        ruling,
        cause_right: best.is_some(),
        cause: Some(verdict.cause.code().to_owned()),
        by: verdict.by.as_ref().map(culprit_name),
        confidence: Some(verdict.confidence),
        late_ns: activation.response(),
        unexplained_ns: unexplained.map(|segment| segment.length()).sum(),
    }
}

/// What the verdict on an activation is worth as an answer about this fault.
fn rule(fault: &Fault, activation: &Activation) -> Ruling {
    let verdict = &activation.verdict;
    if !fault.causes.iter().any(|code| code == verdict.cause.code()) {
        return Ruling::Wrong;
    }
    match named(&Label::default(), activation.tid, verdict.by.as_ref(), &fault.culprits) {
        Named::Rightly => Ruling::Right,
        Named::Missing => Ruling::NobodyNamed,
        Named::Wrongly => Ruling::Wrong,
    }
}

/// True of a finding with a cause of the fault, which begins with one of its culprits.
fn is_of(fault: &Fault, finding: &Finding) -> bool {
    let begins_with = |culprit: &String| {
        let name = culprit.strip_prefix("thread:").unwrap_or(culprit);
        finding.title.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
    };
    fault.causes.iter().any(|code| code == finding.code)
        && (fault.culprits.is_empty() || fault.culprits.iter().any(begins_with))
}

/// True where a cause is named with more than low confidence.
fn is_accusation(activation: &Activation) -> bool {
    activation.verdict.cause.accuses() && activation.verdict.confidence > Confidence::Low
}

fn false_findings(
    case: &Case,
    faults: &[&Fault],
    explanation: &Explanation,
    worst: &[&Activation],
    host_noise: bool,
) -> Vec<String> {
    let is_in = |list: &[String], code: &str| list.iter().any(|one| one == code);
    let allowed = |code: &str| {
        faults.iter().any(|fault| is_in(&fault.causes, code))
            || is_in(&case.may, code)
            || NEUTRAL.contains(&code)
            || (host_noise && code == Cause::Stolen.code())
    };
    let of_verdict = |code: &str| {
        let is_verdict = |activation: &Activation| activation.verdict.cause.code() == code;
        explanation.activations.iter().any(is_verdict)
    };
    let is_false = |finding: &&Finding| {
        // In a run with a fault, what a culprit's finding sums up are verdicts, which are judged already, or else it is of
        // a second culprit.
        let judged = !case.is_healthy()
            && Cause::from_code(finding.code).is_some_and(Cause::has_culprit_finding)
            && of_verdict(finding.code);
        let grave = finding.severity >= Severity::Warning;
        is_in(&case.not, finding.code) || (grave && !judged && !allowed(finding.code))
    };
    let findings = explanation.findings.iter().filter(is_false);
    let mut texts: Vec<String> =
        findings.map(|finding| format!("{}: {}", finding.code, finding.title)).collect();
    let verdicts = worst.iter().filter(|activation| is_accusation(activation));
    let excluded =
        verdicts.map(|activation| activation.verdict.cause.code()).find(|code| is_in(&case.not, code));
    texts.extend(excluded.map(|code| format!("{code}: a verdict on one of the worst activations")));
    texts
}

#[cfg(test)]
pub(super) mod tests;
