//! What occurs once in a job: own work, late timers, locks, sections of lower threads.

use super::sources::Victim;
use crate::model::{Arrival, Step};
use crate::recording::{ChargedJobs, Recording};
use whylate_base::Ns;
use whylate_ledger::Cause;

/// A part that occurs once in a job: what it is charged to, and the most.
pub(super) struct OncePart {
    pub(super) cause: Cause,
    pub(super) by: Option<String>,
    pub(super) time: Ns,
}

/// All of them.
pub(super) fn once_sum(once: &[OncePart]) -> Ns {
    once.iter().map(|part| part.time).sum()
}

/// The most of each cause in one job, and of sections that lower threads had elsewhere in the recording.
pub(super) fn once(recording: &Recording, charged: &ChargedJobs, victim: &Victim<'_>) -> Vec<OncePart> {
    let mut all: Vec<OncePart> = charged
        .most
        .iter()
        .map(|(&cause, (time, by))| OncePart { cause, by: by.clone(), time: *time })
        .collect();
    let Some((section, by)) = longest_section(recording, victim) else { return all };
    match all.iter_mut().find(|part| part.cause == Cause::PreemptionDisabled) {
        Some(part) if part.time >= section => {}
        Some(part) => (part.time, part.by) = (section, Some(by)),
        None => all.push(OncePart { cause: Cause::PreemptionDisabled, by: Some(by), time: section }),
    }
    all
}

/// The longest section without preemption of a thread that comes later by the rules, on the victim's CPUs.
fn longest_section(recording: &Recording, victim: &Victim<'_>) -> Option<(Ns, String)> {
    let mut longest: Option<(Ns, String)> = None;
    for (task, thread) in recording.model.tasks.iter().zip(&recording.threads) {
        let may_use = task.cpus.is_empty() || task.cpus.iter().any(|cpu| victim.cpus.contains(cpu));
        let Arrival::Recorded(script) = &task.arrival else { continue };
        if thread.tid == victim.tid || !may_use {
            continue;
        }
        for step in &script.steps {
            let (Step::PreemptOff(amount) | Step::IrqsOff(amount)) = step else { continue };
            let most = amount.most().unwrap_or(Ns::ZERO);
            if longest.as_ref().is_none_or(|(before, _)| *before < most) {
                longest = Some((most, task.name.clone()));
            }
        }
    }
    longest.filter(|(section, _)| *section > Ns::ZERO)
}
