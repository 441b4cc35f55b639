//! The softirq that began latest after its raise, in a trace without the scheduler's events.
//!
//! Where those are recorded, the ledger charges the delay to what had the CPU, as far as a thread was late by it.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use super::words::severity;
use crate::causes::advised::RECORD;
use crate::model::softirq_name;
use crate::timeline::housekeeping::runs_softirqs;
use crate::timeline::pending::LateSoftirq;
use crate::tracers::actors;
use whylate_base::{AdvisedFix, Evidence, Finding, Ns};
use whylate_events::Kind;

pub(super) const INFO: FindingInfo = FindingInfo { code: "softirq-late", page: page!("softirq-late") };

/// An interrupt takes as long, and its softirqs run behind it.
const NOTABLE: Ns = Ns::from_us(100);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let timeline = subject.timeline;
    let left_out = |late: &LateSoftirq| {
        let within = late.raised..late.entered;
        subject.trace.left_out.iter().any(|left_out| within.contains(&left_out.at))
    };
    let latest = timeline
        .pending
        .latest()
        .filter(|late| late.delay() >= NOTABLE && !timeline.seen.contains(Kind::Switch))
        .filter(|late| subject.is_in_scope(late.cpu, late.raised, late.entered) && !left_out(late));
    let Some(late) = latest else { return Vec::new() };
    let LateSoftirq { vec, cpu, raised, entered, tid } = late;
    let (name, thread) = (softirq_name(vec), actors::called(timeline, entered, tid));
    let is_left = runs_softirqs(timeline.comm_at(tid, entered).as_str());
    let left = if is_left { ", to which the kernel had left it" } else { "" };
    vec![Finding {
        code: INFO.code,
        severity: severity(late.delay(), subject.options.deadline),
        title: format!("softirq {name} began {} after its raise on CPU {cpu}, in {thread}", late.delay()),
        why: format!(
            "what waits for it was late by that; it ran in {thread}{left}; what had the CPU from its raise on is not known \
             without the scheduler's events"
        ),
        evidence: vec![
            Evidence::at(raised, cpu, format!("softirq {name} was raised")),
            Evidence::at(entered, cpu, format!("softirq {name} began, in {thread}")),
        ],
        fix: vec![AdvisedFix::by_hand(
            "record the scheduler's events as well, which show what had the CPU meanwhile: whylate record",
            RECORD,
        )],
    }]
}
