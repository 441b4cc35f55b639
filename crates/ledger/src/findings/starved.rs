//! Threads that were runnable to the end of the trace and never ran.

use super::subject::Subject;
use crate::causes::Cause;
use whylate_base::{Evidence, Finding, Severity};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let starved = subject.worst.iter().filter(|activation| activation.verdict.cause == Cause::Starved);
    starved
        .map(|activation| Finding {
            code: Cause::Starved.code(),
            severity: Severity::Error,
            title: format!(
                "{}:{} ({}) was runnable for {} to the end of the trace and never ran",
                activation.comm,
                activation.tid,
                activation.priority,
                activation.response()
            ),
            why: activation.verdict.why.clone(),
            evidence: vec![Evidence::at(
                activation.due,
                activation.cpu,
                "woken here, and never switched in afterwards",
            )],
            fix: activation.verdict.fix.clone(),
        })
        .collect()
}
