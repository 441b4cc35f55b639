//! A recording of some of the machine's CPUs: what it cannot show.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::RECORD;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) const INFO: FindingInfo =
    FindingInfo { code: "cpus-not-recorded", page: page!("cpus-not-recorded") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(recorded) = &subject.timeline.recorded_cpus else { return Vec::new() };
    let unseen = subject.timeline.unseen_wakeups;
    vec![Finding {
        code: INFO.code,
        severity: Severity::Info,
        title: format!("only the events of CPUs {recorded} were recorded; {unseen} wake-ups by other CPUs are not shown"),
        why: "a wake-up is an event of the CPU that makes it; without it the activation begins where the thread runs, and a late \
              wake-up does not show. A thread that may use other CPUs as well is followed on the recorded ones only"
            .to_owned(),
        evidence: vec![Evidence::general(format!("{unseen} threads began to run without a recorded wake-up"))],
        fix: vec![AdvisedFix::by_hand("to see what other CPUs do to these, record without --cpus; to follow a thread, restrict it to recorded CPUs", RECORD)],
    }]
}
