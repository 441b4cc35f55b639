//! Time in which nothing happened at all, summed over the selected threads.

use super::Subject;
use crate::cause::Cause;
use crate::verdict::advice;
use whylate_base::{Evidence, Finding, Ns, Priority, Severity};

/// Thefts shorter than this, at most, are not worth a finding of their own.
const NOTABLE: Ns = Ns::from_us(50);

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let costs = subject.engine.threads.iter().filter_map(|thread| {
        let stats = thread.stats.as_ref()?;
        stats.costs.get(&(Cause::Stolen, None)).copied()
    });
    let (mut total, mut most, mut times, mut worst_due) = (Ns::ZERO, Ns::ZERO, 0, Ns::ZERO);
    for cost in costs {
        total += cost.total;
        times += cost.activations;
        if cost.most > most {
            (most, worst_due) = (cost.most, cost.worst_due);
        }
    }
    if most < NOTABLE {
        return Vec::new();
    }
    let guest = match subject.engine.hypervisor {
        Some(true) => "the machine is a guest: its hypervisor is the first suspect",
        Some(false) => "the machine is no guest: firmware (SMI) is the first suspect",
        None => "the hypervisor of a guest, or the firmware (SMI) of a machine, takes CPUs away like this",
    };
    vec![Finding {
        code: Cause::Stolen.code(),
        severity: Severity::Warning,
        title: format!(
            "CPUs stood still while timers were due: {most} at most, in {times} activations, {total} in all"
        ),
        why: guest.to_owned(),
        evidence: vec![Evidence {
            at: Some(worst_due),
            cpu: None,
            what: format!("worst: the activation due then, {most}"),
        }],
        fix: advice(Cause::Stolen, None, Priority::DEFAULT),
    }]
}
