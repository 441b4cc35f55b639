//! A trace by a clock that counts nothing but the tick.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::{FINER_CLOCK, RECORD};
use whylate_base::{AdvisedFix, Finding, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "coarse-clock", page: page!("coarse-clock") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let finding = subject.timeline.clock_tick.map(|tick| Finding {
        code: INFO.code,
        severity: Severity::Info,
        title: format!("all times of the trace are whole steps of {tick}"),
        why: format!(
            "its clock counts nothing finer: what took less than {tick} shows as 0, and what took longer by up to {tick} too \
             much or too little"
        ),
        evidence: Vec::new(),
        fix: vec![AdvisedFix::by_hand(FINER_CLOCK, RECORD)],
    });
    finding.into_iter().collect()
}
