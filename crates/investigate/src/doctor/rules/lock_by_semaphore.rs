//! Semaphores that seem to serve as locks between threads of different priorities.

use super::rule::{DoctorRule, Needs, page};
use super::wakers::{CallsByThread, Wait, by_pair, finding, is_answer, waits};
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use crate::doctor::futex::FutexCall;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "lock-by-semaphore", page: page!("lock-by-semaphore"), needs: Needs::Calls, find };

/// Fewer waits may be of the start.
const ENOUGH: usize = 3;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = CallsByThread::new(observation);
    let waits = waits(observation, &calls).into_iter();
    let waits =
        waits.filter(|wait| wait.by.rank() < wait.thread.rank() && is_semaphore(observation, wait.call));
    let pairs = by_pair(waits.collect());
    // One that is asked for something, and posts its answer, has another finding.
    let locks = pairs.iter().filter(|waits| !waits.iter().any(|wait| is_answer(wait, &calls)));
    locks.filter_map(|waits| of_pair(observation, waits)).collect()
}

/// A thread that has another period, and waits for the semaphore only now and then, takes it for something that is free
/// as a rule. It is proved to be a lock where the waiting thread also posts it to a thread that waits: uncontended uses
/// make no system call.
fn of_pair(observation: &Observation, waits: &[Wait<'_>]) -> Option<DoctorFinding> {
    let thread = waits.first()?.thread;
    let is_seldom = (waits.len() as u64) * 2 < thread.path?.waits;
    if waits.len() < ENOUGH || !is_seldom {
        return None;
    }
    let words: Vec<u64> = waits.iter().map(|wait| wait.call.args[0]).collect();
    let posts = |call: &&Call| {
        let wakes = FutexCall::of(call).is_some_and(|futex| futex.wakes_one());
        call.tid == thread.tid
            && wakes
            && call.ret.is_some_and(|woken| woken > 0)
            && words.contains(&call.args[0])
    };
    let severity = match observation.calls.iter().any(|call| posts(&call)) {
        true => Severity::Warning,
        false => Severity::Info,
    };
    let found = finding(observation, RULE.code, severity, "waits now and then for a semaphore of", waits)?;
    Some(found.because(WHY).fix(FIX))
}

/// The functions of sem_wait(3) in the call stack.
fn is_semaphore(observation: &Observation, call: &Call) -> bool {
    const NAMES: [&str; 4] = ["sem_wait", "sem_timedwait", "sem_clockwait", "new_sem_wait"];
    observation.functions(call.stack).any(|function| {
        let plain = function.trim_start_matches('_');
        NAMES.iter().any(|name| plain.starts_with(name))
    })
}

const WHY: &str = "a semaphore has no owner that could inherit a priority: while a thread of low priority has it, every thread of a \
     priority between the two delays the waiting one for as long as it likes (priority inversion)";

const FIX: &[&str] = &[
    "where it serves as a lock: a pthread mutex with PTHREAD_PRIO_INHERIT",
    "where it signals data: do not wait in the real-time thread, sem_trywait() instead",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::calls::SystemCall as C;
    use crate::doctor::made_up::{call, program};
    use std::sync::Arc;
    use whylate_base::{Ns, Policy, Tid};

    const WORD: u64 = 0x7000;

    fn round(n: i64) -> [Call; 2] {
        let at = 5_000 + 1_000 * n;
        let wait = Call {
            start: Ns(at),
            end: Some(Ns(at + 500)),
            slept: true,
            woken_by: Some((Tid(12), Ns(at + 400))),
            ..call(11, C::Futex, &[WORD, 393, 0], 7)
        };
        let wake = Call { start: Ns(at + 390), ret: Some(1), ..call(12, C::Futex, &[WORD, 129, 1], 8) };
        [wait, Call { end: Some(Ns(at + 410)), ..wake }]
    }

    /// What is found of a thread with so many periodic waits, that waits in `function`.
    fn severity(calls: Vec<Call>, waits: u64, function: &str, priority: u32) -> Option<Severity> {
        let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Fifo, priority)]);
        observation.calls = calls;
        let thread = observation.threads.get_mut(&Tid(11)).expect("a thread");
        thread.path = thread.path.map(|path| crate::doctor::facts::RealTimePath { waits, ..path });
        let stacks = Arc::get_mut(&mut observation.stacks).expect("one owner");
        stacks.addresses[7].locations[0].function = Some(function.into());
        let found = find(&observation);
        assert!(found.len() <= 1 && found.iter().all(|finding| finding.location.is_some()));
        found.first().map(|finding| finding.severity)
    }

    #[test]
    fn a_semaphore_that_is_free_as_a_rule_may_be_a_lock() {
        let waits = |count| (0..count).flat_map(round).collect::<Vec<_>>();
        let post = Call { start: Ns(900_000), ret: Some(1), ..call(11, C::Futex, &[WORD, 129, 1], 9) };
        for (what, calls, periods, function, priority, expected) in [
            ("now and then", waits(3), 100, "__new_sem_wait_slow64", 20, Some(Severity::Info)),
            (
                "with a post to a thread that waits",
                [waits(3), vec![post]].concat(),
                100,
                "sem_wait@@GLIBC_2.34",
                20,
                Some(Severity::Warning),
            ),
            ("in each period", waits(60), 100, "sem_wait", 20, None),
            ("twice", waits(2), 100, "sem_wait", 20, None),
            ("of a thread of higher priority", waits(3), 100, "sem_wait", 60, None),
            ("a condition variable", waits(3), 100, "pthread_cond_wait", 20, None),
        ] {
            assert_eq!(severity(calls, periods, function, priority), expected, "{what}");
        }
    }
}
