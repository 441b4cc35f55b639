//! Time in which nothing happened at all, summed over the selected threads.

use super::subject::Subject;
use super::words::suspect;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use whylate_base::{Evidence, Finding, Ns, Severity};

/// Shorter intervals are no finding of their own.
const NOTABLE: Ns = Ns::from_us(50);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let (mut total, mut times, mut longest) = (Ns::ZERO, 0, (Ns::ZERO, Ns::ZERO));
    for stats in subject.timeline.threads.iter().filter_map(|thread| subject.stats.get(thread.tid)) {
        longest = longest.max(stats.longest_theft);
        if let Some(cost) = stats.costs.get(&(Cause::Stolen, None)) {
            total += cost.total;
            times += cost.activations;
        }
    }
    let (most, at) = longest;
    if most < NOTABLE {
        return Vec::new();
    }
    vec![Finding {
        code: Cause::Stolen.code(),
        severity: Severity::Warning,
        title: format!(
            "CPUs stood still while timers were due: {most} at once, {total} in all, in {times} activations"
        ),
        why: suspect(subject.timeline.hypervisor).to_owned(),
        evidence: vec![Evidence {
            at: Some(at),
            ..Evidence::general(format!("nothing happened for {most}"))
        }],
        fix: Cause::Stolen.advice(&Advised::general()),
    }]
}
