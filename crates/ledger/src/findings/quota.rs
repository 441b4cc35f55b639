//! Threads that their cgroup's CPU quota stopped.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::identities::Identity;
use whylate_base::{Confidence, Evidence, Finding, Severity};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let stopped = subject.timeline.threads.iter().filter_map(|thread| {
        let cost = subject.stats.get(thread.tid)?.costs.get(&(Cause::CgroupQuota, None))?;
        let worst = subject.worst.iter().filter(|activation| {
            activation.tid == thread.tid
                && activation.verdict.cause == Cause::CgroupQuota
                && activation.verdict.confidence > Confidence::Low
        });
        let evidence: Vec<Evidence> = worst
            .take(3)
            .map(|activation| {
                let what = format!("{} was due, and stopped for {}", activation.comm, activation.verdict.charged);
                Evidence::at(activation.due, activation.cpu, what)
            })
            .collect();
        let Identity { comm, .. } = subject.usual(thread);
        // Where only an idle CPU indicates it, each activation's own verdict reports that.
        (!evidence.is_empty()).then(|| Finding {
            code: Cause::CgroupQuota.code(),
            severity: Severity::Warning,
            title: format!(
                "{comm}:{} was stopped by its cgroup's CPU quota for {} in {} activations",
                thread.tid, cost.total, cost.activations
            ),
            why: "the quota (cpu.max) is shared by all threads of the cgroup and of those below it; when it is used \
                  up, all of them wait for the next period, even on an idle CPU"
                .to_owned(),
            evidence,
            fix: Cause::CgroupQuota.advice(&Advised::general()),
        })
    });
    stopped.collect()
}
