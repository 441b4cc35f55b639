//! Real-time threads that wait by `sched_yield(2)`.

use super::lines::{Mistake, by_line};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Policy, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "sched-yield", page: page!("sched-yield"), needs: Needs::Calls, find };

/// Once or twice may be a courtesy; a loop is a wait.
const ENOUGH: usize = 10;

const MISTAKE: Mistake =
    Mistake { code: RULE.code, severity: Severity::Error, does: "waits by sched_yield", why: WHY, fix: FIX };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    // Whether it is in the periodic part does not matter: a thread that spins may have none.
    let calls =
        observation.calls.iter().filter(|call| call.call == SystemCall::SchedYield).filter_map(|call| {
            let thread = observation.threads.get(&call.tid)?;
            let since = thread.realtime_since?;
            let is_fixed_priority = matches!(thread.policy, Policy::Fifo | Policy::Rr);
            (is_fixed_priority && call.start >= since).then_some((thread, call))
        });
    let lines = by_line(observation, calls);
    let spins = lines.iter().filter(|line| line.items.len() >= ENOUGH);
    spins.map(|line| MISTAKE.at(line)).collect()
}

const WHY: &str = "sched_yield() of a SCHED_FIFO or SCHED_RR thread lets only threads of the same priority run: one of a lower \
     priority, for which it may wait, never gets this CPU, and the wait is then for ever";

const FIX: &[&str] = &[
    "wait for what is waited for: a condition variable, a semaphore, a futex, a timer",
    "for a lock: a pthread mutex with PTHREAD_PRIO_INHERIT in place of a spinlock of your own",
];
