//! Threads that left out periods behind a job that the ledger does not show as late.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use super::words;
use crate::causes::advised::RECORD;
use crate::identities::Identity;
use crate::timeline::due_instants::LeftOut;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) const INFO: FindingInfo =
    FindingInfo { code: "periods-left-out", page: page!("periods-left-out") };

/// Where the worst response is this part of the job or more, its ledger shows why.
const SHOWN: i64 = 2;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let left_out = subject.timeline.threads.iter().filter_map(|thread| {
        let stats = subject.stats.get(thread.tid)?;
        let (longest, times) = thread.due_instants.left_out()?;
        let LeftOut { due, took, period, periods } = longest;
        if stats.response.spread()?.max.0.saturating_mul(SHOWN) >= took.0 || subject.looks_after_others(thread) {
            return None;
        }
        let Identity { comm, .. } = subject.usual(thread);
        let what = words::periods(periods.unsigned_abs());
        let jobs = if times == 1 { "after 1 job".to_owned() } else { format!("after {times} jobs") };
        let title = format!(
            "{comm}:{} left out {what} of {period}: the job before took {took} by its own timers",
            thread.tid
        );
        let why = format!(
            "its sleeps are until instants {period} apart, and {jobs} the next instant was some periods later: the thread \
             slept within the job, and a sleep of its own ends an activation"
        );
        let from = format!("{comm} was due, and programmed its next period {took} later");
        Some(Finding {
            code: INFO.code,
            severity: Severity::Info,
            title,
            why,
            evidence: vec![Evidence { at: Some(due), ..Evidence::general(from) }],
            fix: vec![AdvisedFix::by_hand(
                "write markers where a job begins and ends, and explain what lies between them (--begin-marker, --end-marker); \
                 whylate record --stacks shows the calls in which it sleeps",
                RECORD,
            )],
        })
    });
    left_out.collect()
}
