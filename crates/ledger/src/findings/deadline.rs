//! Missed deadlines, where the user gave one.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use whylate_base::{Evidence, Finding, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "deadline-missed", page: page!("deadline-missed") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(deadline) = subject.options.deadline else { return Vec::new() };
    // One that looks after real-time threads has no deadline, though it has their name.
    let threads = subject.timeline.threads.iter().filter(|thread| !subject.beside.contains(&thread.tid));
    let missed = threads.filter_map(|thread| {
        let stats = subject.stats.get(thread.tid).filter(|stats| stats.missed > 0)?;
        let worst = subject.by_thread.get(&thread.tid).into_iter().flatten();
        let late =
            worst.filter(|activation| !activation.is_start_or_end() && activation.response() > deadline);
        let evidence = late
            .take(5)
            .map(|activation| {
                let what = format!("{}: {}", activation.response(), activation.verdict.cause);
                Evidence::at(activation.due, activation.cpu, what)
            })
            .collect();
        Some(Finding {
            code: INFO.code,
            severity: Severity::Error,
            title: format!(
                "{}:{} missed its deadline of {deadline} in {} of {} activations",
                subject.usual(thread).comm,
                thread.tid,
                stats.missed,
                stats.activations
            ),
            why: "its response, from due to done, was longer than the deadline".to_owned(),
            evidence,
            fix: Vec::new(),
        })
    });
    missed.collect()
}
