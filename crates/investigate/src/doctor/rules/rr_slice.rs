//! SCHED_RR threads whose time slice ends while they work.

use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::{DoctorFinding, set_priority};
use whylate_base::{Policy, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "rr-slice", page: page!("rr-slice"), needs: Needs::Calls, find };

/// Once or twice may be chance.
const ENOUGH: u64 = 3;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let sliced = observation
        .threads
        .values()
        .filter(|thread| thread.policy == Policy::Rr && thread.equal_preemptions >= ENOUGH);
    sliced
        .map(|thread| {
            let title = format!(
                "{} lost the CPU to another thread of its priority {} times",
                thread.ranked_name(),
                thread.equal_preemptions
            );
            DoctorFinding::new(RULE.code, Severity::Warning, title)
                .of(thread)
                .times(thread.equal_preemptions as usize, None)
                .because(WHY)
                .fix(FIX)
                .action(1, set_priority(thread, Some(Policy::Fifo), thread.priority))
        })
        .collect()
}

const WHY: &str = "a SCHED_RR thread that has run for its time slice (kernel.sched_rr_timeslice_ms, 100 ms by default; \
     sched_rr_get_interval(2)) goes behind all others of its priority, and then waits for a slice of each of them";

const FIX: &[&str] = &[
    "give the threads different priorities, the one with the shortest deadline the highest",
    "SCHED_FIFO has no slices: a thread keeps the CPU until it sleeps",
];
