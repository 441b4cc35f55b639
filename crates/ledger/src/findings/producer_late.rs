//! Real-time threads whose input came late, as a thread of less priority that hands it on waited for a CPU.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use super::words;
use crate::causes::advised::Advised;
use crate::model::Culprit;
use crate::timeline::late_producers::{LateInput, LateProducer};
use crate::timeline::thread::Thread;
use std::cmp::Reverse;
use whylate_base::{Action, AdvisedFix, Evidence, Finding, Ns, Severity, Tid};

pub(super) const INFO: FindingInfo = FindingInfo { code: "producer-late", page: page!("producer-late") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let explained = subject.timeline.threads.iter().filter(|thread| subject.stats.get(thread.tid).is_some());
    let late = explained.filter_map(|thread| Some((thread, subject.timeline.late_producers.of(thread.tid)?)));
    let mut late: Vec<(Ns, Finding)> =
        late.filter_map(|(thread, input)| finding(subject, thread, &input)).collect();
    late.sort_by_key(|(queued, finding)| (Reverse(*queued), finding.title.clone()));
    late.into_iter().map(|(_, finding)| finding).collect()
}

fn finding(subject: &Subject<'_>, thread: &Thread, input: &LateInput) -> Option<(Ns, Finding)> {
    let LateProducer { tid, of, from, to, queued, cpu, behind } = input.worst;
    // The activations of a thread that is explained itself say why it was late.
    if subject.stats.get(tid).is_some() || !subject.is_in_scope(cpu, from, to) {
        return None;
    }
    let at = |tid: Tid| subject.timeline.thread_at(tid, to);
    let (late, producer) = (at(thread.tid)?, at(tid)?);
    let role = match of.and_then(at) {
        Some(of) => format!("{producer} works for {of} and wakes {late}, and comes after both"),
        None => format!(
            "{late} waited {} for input, far longer than it usually takes from one activation to the next; {producer} wakes it, and comes \
             after it",
            to - from
        ),
    };
    let behind = behind.map(|(tid, priority)| subject.timeline.task(tid, priority, to));
    let had_cpu = behind.map_or_else(String::new, |by| format!(" that {by} had for most of that time"));
    let again =
        if input.times == 1 { String::new() } else { format!("; it was late {}", words::times(input.times)) };
    let finding = Finding {
        code: INFO.code,
        severity: Severity::Warning,
        title: format!("{producer} handed {late} its input late: it waited {queued} for a CPU"),
        why: format!("{role} by its priority; no activation of {late} contains this wait{again}"),
        evidence: vec![Evidence::at(
            from,
            cpu,
            format!("of {} until it woke {late}, {producer} waited {queued} for the CPU{had_cpu}", to - from),
        )],
        fix: vec![fix(&producer, behind.as_ref())],
    };
    Some((queued, finding))
}

/// The producer gets a priority above that of the thread which had its CPU.
fn fix(producer: &Culprit, behind: Option<&Culprit>) -> AdvisedFix {
    let late = match *producer {
        Culprit::Task { tid, comm, .. } => Some((tid, comm)),
        _ => None,
    };
    match behind {
        Some(by) => AdvisedFix::new(
            format!("give {producer} a priority above {by}: chrt -f -p PRIORITY TID"),
            Advised { late, ..Advised::about(Some(by), None) }.raise_late(),
        ),
        None => AdvisedFix::new(
            format!("find why {producer} waited for a CPU: {}", producer.command()),
            Action::by_hand("the recording does not show one thread that it waited for"),
        ),
    }
}
