//! Answers that threads asked others for in their periods, and waited for longer than usual; and children that others kept off the CPU.

use super::subject::Subject;
use crate::causes::Cause;
use crate::charge::notes::{answerer, asked};
use crate::model::{Activation, Culprit, Kin};
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Confidence, Finding, Ns, Severity, Tid};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut late: HashMap<(Tid, Kin), Vec<(&Activation, Culprit)>> = HashMap::new();
    for activation in subject.worst {
        let verdict = &activation.verdict;
        // Nothing is advised about what was in time.
        let is_late = verdict.cause == Cause::OwnWait && !verdict.fix.is_empty() && activation.is_period();
        let notes = subject.notes(activation);
        // What a child does itself is the program's own choice.
        let is_kept = |behind: Option<&Culprit>| asked(notes, verdict.by).is_some() || behind.is_some();
        let is_answer = answerer(notes).is_some_and(|(_, behind)| is_kept(behind));
        if let Some(by) = verdict.by.filter(|_| is_late && is_answer && verdict.confidence > Confidence::Low)
        {
            late.entry((activation.tid, Kin::of(&by))).or_default().push((activation, by));
        }
    }
    let mut each: Vec<_> = late.into_values().filter_map(|late| finding(subject, &late)).collect();
    each.sort_by_key(|(charged, finding)| (Reverse(*charged), finding.title.clone()));
    each.into_iter().map(|(_, finding)| finding).collect()
}

fn finding(subject: &Subject<'_>, late: &[(&Activation, Culprit)]) -> Option<(Ns, Finding)> {
    let &(worst, by) = late.iter().max_by_key(|(activation, _)| activation.verdict.charged)?;
    let Activation { tid, comm, priority, ref verdict, .. } = *worst;
    let victim = Culprit::Task { tid, comm, priority };
    let why = match late.len() {
        1 => "it is part of one of the worst activations".to_owned(),
        times => format!("it is part of {times} of the worst activations"),
    };
    let finding = Finding {
        code: Cause::OwnWait.code(),
        severity: Severity::Warning,
        title: match asked(subject.notes(worst), Some(by)) {
            Some(_) => format!("{by} answered {victim} late: after up to {}", verdict.charged),
            None => format!("{victim} waited for its child {by} for up to {}", verdict.charged),
        },
        why,
        evidence: verdict.evidence.clone(),
        fix: verdict.fix.clone(),
    };
    Some((verdict.charged, finding))
}
