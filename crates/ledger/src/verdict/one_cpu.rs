//! Advice for a machine with one CPU: no thread can be moved to another one there.

use crate::causes::advised::WORKQUEUE_CPUS;
use crate::model::Activation;
use crate::timeline::Timeline;
use whylate_base::{Action, AdvisedFix, Cpu, Finding};
use whylate_events::TraceInfo;

/// Drops what moves a thread or an interrupt to another CPU where there is none, and other advice is left.
pub(crate) fn drop_moves<'a>(
    timeline: &Timeline,
    trace: &TraceInfo,
    activations: impl Iterator<Item = &'a mut Activation>,
    findings: &mut [Finding],
) {
    if !has_one_cpu(timeline, trace) {
        return;
    }
    let fixes =
        activations.map(|one| &mut one.verdict.fix).chain(findings.iter_mut().map(|one| &mut one.fix));
    for fix in fixes.filter(|fix| !fix.iter().all(moves)) {
        fix.retain(|fix| !moves(fix));
    }
}

/// True of a machine whose only CPU was recorded. The number in a text may be that of the CPUs that have lines.
fn has_one_cpu(timeline: &Timeline, trace: &TraceInfo) -> bool {
    trace.cpus == 1
        && trace.cpus_seen.is_empty()
        && timeline.recorded_cpus.is_none()
        && timeline.cpus.iter().all(|(cpu, _)| cpu == Cpu(0))
}

fn moves(fix: &AdvisedFix) -> bool {
    // The words have another way first.
    if fix.text.contains(", or move ") {
        return false;
    }
    match &fix.action {
        Action::Thread { set } => set.iter().any(|thread| thread.not_cpus.is_some()),
        Action::Irq { set } => set.iter().any(|irq| irq.not_cpus.is_some()),
        Action::Code { reason } => reason == WORKQUEUE_CPUS,
        _ => false,
    }
}
