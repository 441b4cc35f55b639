//! Threads that waited on a busy CPU while another that they may use was idle.

use super::subject::Subject;
use crate::causes::Cause;
use crate::model::Activation;
use std::collections::BTreeMap;
use whylate_base::{Evidence, Finding, Ns, Severity, Tid};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut by_thread: BTreeMap<Tid, Vec<&Activation>> = BTreeMap::new();
    for activation in subject.worst.iter().filter(|kept| kept.verdict.cause == Cause::WakePlacement) {
        by_thread.entry(activation.tid).or_default().push(activation);
    }
    by_thread.into_values().filter_map(|late| finding(subject, &late)).collect()
}

fn finding(subject: &Subject<'_>, late: &[&Activation]) -> Option<Finding> {
    let worst = late.iter().max_by_key(|activation| activation.verdict.charged)?;
    let costs =
        subject.stats.get(worst.tid)?.costs.iter().filter(|((cause, _), _)| *cause == Cause::WakePlacement);
    let total: Ns = costs.map(|(_, cost)| cost.total).sum();
    let evidence = late.iter().take(3).map(|activation| {
        let by = activation.verdict.by.as_ref().map_or_else(String::new, |by| by.to_string());
        let what = format!("waited {} behind {by}", activation.verdict.charged);
        Evidence::at(activation.due, activation.cpu, what)
    });
    Some(Finding {
        code: Cause::WakePlacement.code(),
        severity: Severity::Warning,
        title: format!(
            "{}:{} waited on a busy CPU while another that it may use was idle: {} at most",
            worst.comm, worst.tid, worst.verdict.charged
        ),
        why: format!("{total} were lost this way in all; on the idle CPU the thread would have run at once"),
        evidence: evidence.collect(),
        fix: worst.verdict.fix.clone(),
    })
}
