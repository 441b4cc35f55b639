//! Threads at the highest real-time priority.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::{DoctorFinding, set_priority};
use whylate_base::{Policy, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "fifo-99", page: page!("fifo-99"), needs: Needs::Files, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let highest = observation
        .threads
        .values()
        .filter(|thread| matches!(thread.policy, Policy::Fifo | Policy::Rr) && thread.priority == 99);
    highest
        .map(|thread| {
            let granted = thread.requests.iter().rev().find(|request| request.error.is_none());
            let call = granted.and_then(|request| observation.calls.get(request.call));
            let title = format!("{} runs at the highest priority, {}", thread.name(), thread.scheduling());
            DoctorFinding::new(RULE.code, Severity::Warning, title)
                .of(thread)
                .at(observation.location(call.and_then(|call| call.stack)))
                .because(WHY)
                .fix(&["use a priority below 99, as low as your other threads allow: 1 is above all that is not real-time"])
                .action(0, set_priority(thread, None, 98))
        })
        .collect()
}

const WHY: &str = "the kernel's own threads for migration and watchdogs run at 99: a thread at the same priority delays them, and \
     where it does not sleep, CPUs wait for each other and the machine hangs";
