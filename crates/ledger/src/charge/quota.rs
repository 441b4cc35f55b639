//! The time a SCHED_OTHER thread was stopped because its cgroup's CPU quota was used up.
//!
//! Such a thread shows as runnable all the time: it is switched out as if preempted, and switched in again when
//! the quota has been refilled. Since 6.18 that happens to each thread on its way to user space, before to the
//! whole cgroup's queue of a CPU; a trace shows the same of both.

use super::charger::Charger;
use super::queue::{PASSED_OVER, Queue};
use crate::causes::Cause;
use crate::timeline::quota::{LONG_WAIT, LONGEST_TURN, ends_wait};
use crate::timeline::running::Running;
use std::collections::HashMap;
use whylate_base::{Confidence, Ns, Priority, SchedClass, Tid};

/// From a refill to the switch: an interrupt, sometimes a call to another CPU.
const LONGEST_PICKUP: Ns = Ns::from_ms(1);
/// The same where the CPU was not idle, and so nothing else distinguishes a refill from a coincidence.
const PROMPT: Ns = Ns::from_us(200);

/// The tick stops threads that have used up their share, and the timer of the next period lets them run again.
const BLUR: Ns = Ns::from_ms(2);

/// A time within a wait in which the thread was not allowed to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Throttled {
    pub(super) from: Ns,
    pub(super) to: Ns,
    /// The quota, or another limit where the thread may have that.
    pub(super) cause: Cause,
    pub(super) confidence: Confidence,
}

impl Charger<'_> {
    /// When in a wait the thread had no quota, if it was so.
    pub(super) fn throttled(&self, queue: &Queue<'_>) -> Option<Throttled> {
        if queue.class_at(queue.from) != SchedClass::Fair {
            return None;
        }
        let Queue { from, to, .. } = *queue;
        let refill = self.timeline.quota.last_between(from, to);
        // The same cgroup's refill before would have let it run, had it been stopped by then.
        let since =
            |refill: &crate::timeline::quota::Refill| refill.since.map_or(from, |since| since.max(from));
        if self.was_left_idle(queue) {
            let ended = refill.filter(|refill| queue.timeline.idle_time(refill.at, to) <= LONGEST_PICKUP);
            let (from, to, confidence) = match (ended, self.timeline.quota.in_use()) {
                // Since 6.18 a thread uses more than its quota where it is long in the kernel, and what it used too much
                // takes the next refills (`throttle_cfs_rq_work()`, `kernel/sched/fair.c`).
                (Some(refill), _) if self.idles_on(queue, since(&refill)) => {
                    (from, refill.at, Confidence::High)
                }
                (Some(refill), _) => (since(&refill), refill.at, Confidence::High),
                // The refill is yet to come.
                (None, Some(true)) if to >= self.timeline.now => (from, to, Confidence::Medium),
                (None, None) if self.may_lack_its_run(queue) => return None,
                (None, Some(true) | None) => (from, to, Confidence::Low),
                (None, Some(false)) => return None,
            };
            let cause = match confidence {
                Confidence::Low => self.limit_of(queue),
                _ => Cause::CgroupQuota,
            };
            return Some(Throttled { from, to, cause, confidence });
        }
        let refill = refill.filter(|_| to < self.timeline.now)?;
        let from = since(&refill);
        let (stopped, picked_up) = (refill.at - from, to - refill.at);
        // With its quota back it is one of several in the fair queue again.
        let by_refill = match picked_up <= PROMPT {
            true => stopped >= LONGEST_TURN,
            // So did its other waits: its quota was used up in one period after the other.
            false if queue.waiter.long_waits.show_quota() && to - queue.from >= LONG_WAIT => {
                ends_wait(refill, to)
            }
            false => {
                let turns = others_turns(queue, from, to);
                picked_up <= turns && stopped >= turns
            }
        };
        by_refill.then_some(Throttled {
            from,
            to: refill.at,
            cause: Cause::CgroupQuota,
            confidence: Confidence::Medium,
        })
    }

    /// Which limit stopped a thread whose CPU idled: without its priority both may have. RT throttling lasts until the period ends,
    /// and so for what the threads' own share leaves of it, if they never pause.
    fn limit_of(&self, queue: &Queue<'_>) -> Cause {
        let Queue { waiter, from, to, first_choice, .. } = *queue;
        if waiter.priority_at(from) != Priority::UNKNOWN {
            return Cause::CgroupQuota;
        }
        let bandwidth = self.timeline.bandwidth.at(from);
        let pause = bandwidth.period - bandwidth.limit_or_default();
        let stopped = to - if first_choice < to { first_choice } else { from };
        match bandwidth.throttles() != Some(false) && (stopped - pause).0.saturating_abs() <= BLUR.0 {
            true => Cause::RtThrottled,
            false => Cause::TimeLimit,
        }
    }

    /// True where a fair thread that was woken did not run by the end of the trace, and its CPU was left idle: it may have run
    /// where an excerpt leaves out the switches. One that was switched out as it was runnable, and then nothing ran, was stopped.
    pub(super) fn may_lack_its_run(&self, queue: &Queue<'_>) -> bool {
        let mut slices = queue.timeline.between(queue.from, queue.to);
        let was_stopped = slices.next().is_some_and(|(.., slice)| {
            slice.running == Running::Idle && slice.switched && slice.start == queue.from
        });
        let is_fair = queue.class_at(queue.from) == SchedClass::Fair;
        is_fair
            && !was_stopped
            && queue.to >= self.timeline.now
            && self.timeline.quota.in_use().is_none()
            && self.was_left_idle(queue)
    }

    /// True when the CPU idled in a wait for longer than it takes to wake up.
    fn was_left_idle(&self, queue: &Queue<'_>) -> bool {
        queue.idled_on
            || queue.timeline.between(queue.from, queue.to).any(|(start, end, slice)| {
                slice.running == Running::Idle && start >= queue.first_choice && end - start > PASSED_OVER
            })
    }

    /// True where the CPU idled on after this refill, for most of the time that it takes to pick a thread up once more.
    fn idles_on(&self, queue: &Queue<'_>, refill: Ns) -> bool {
        let picked_up = refill + LONGEST_PICKUP;
        refill > queue.from
            && picked_up < queue.to
            && queue.timeline.idle_time(picked_up, picked_up + LONGEST_PICKUP).0 * 2 >= LONGEST_PICKUP.0
    }
}

/// The longest time that a fair queue makes a thread wait for one turn of each other that ran in `from..to`.
fn others_turns(queue: &Queue<'_>, from: Ns, to: Ns) -> Ns {
    /// The weight of a thread over that of one that is nicer by one (`sched_prio_to_weight`, `kernel/sched/core.c`).
    const WEIGHT_OF_ONE_NICE: f64 = 1.25;
    let own = queue.waiter.priority_at(from);
    let mut others: HashMap<Tid, f64> = HashMap::new();
    for (.., slice) in queue.timeline.between(from, to) {
        if let Running::Task(tid, theirs) = slice.running
            && let (Some(own), Some(theirs)) = (own.nice(), theirs.nice())
        {
            others.insert(tid, WEIGHT_OF_ONE_NICE.powi((own - theirs).max(0)));
        }
    }
    let turns: f64 = others.values().sum();
    Ns((LONGEST_TURN.0 as f64 * turns) as i64)
}
