//! Signals of a real-time thread's timer that another thread handles.

use super::rule::{DoctorRule, Needs, page};
use super::wakers::{CallsByThread, Wait, by_pair, finding, waits};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Severity, SourceLocation};

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "signal-to-other-thread",
    page: page!("signal-to-other-thread"),
    needs: Needs::Calls,
    find,
};

/// Fewer signals are no period.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = CallsByThread::new(observation);
    let waits = waits(observation, &calls).into_iter().filter(|wait| is_by_handler(wait, &calls));
    by_pair(waits.collect())
        .iter()
        .filter(|waits| waits.len() >= ENOUGH)
        .filter_map(|waits| {
            let does = "waits for signals that are handled by";
            let found = finding(observation, RULE.code, Severity::Warning, does, waits)?;
            let line = timer(observation, waits).or(found.other.as_ref()?.1.clone());
            Some(found.at(line).because(WHY).fix(FIX))
        })
        .collect()
}

/// The waker ranks below the thread, and woke it in a signal handler: the call after the one with which it woke it is the
/// handler's end (sigreturn(2)).
fn is_by_handler(wait: &Wait<'_>, calls: &CallsByThread<'_>) -> bool {
    let (_, after) = calls.around(wait.by.tid, wait.waker.start);
    wait.by.rank() < wait.thread.rank()
        && wait.by.pid == wait.thread.pid
        && after.first().is_some_and(|next| next.call == SystemCall::RtSigreturn)
}

/// The line at which the process made its timer, where it made one: there the signal's receiver is chosen.
fn timer(observation: &Observation, waits: &[Wait<'_>]) -> Option<SourceLocation> {
    let pid = waits.first()?.thread.pid;
    let mut calls = observation.calls.iter();
    let timer = calls.find(|call| {
        let is_own = || observation.threads.get(&call.tid).is_some_and(|thread| thread.pid == pid);
        call.call == SystemCall::TimerCreate && call.error().is_none() && is_own()
    })?;
    observation.location(timer.stack)
}

const WHY: &str = "a signal of a process is handled by any of its threads that does not block it, the main thread first: the \
     real-time thread then waits for a thread of lower priority, once for each signal";

const FIX: &[&str] = &[
    "sleep until an instant in the thread itself, clock_nanosleep(TIMER_ABSTIME), or read a timerfd",
    "SIGEV_THREAD_ID with the thread's id in timer_create(), the signal blocked in all threads, and sigwaitinfo() in this one",
];

#[cfg(test)]
mod tests {
    use crate::doctor::calls::SystemCall as C;
    use crate::doctor::facts::Call;
    use crate::doctor::made_up::{call, found, program};
    use whylate_base::{Ns, Policy, Tid};

    #[test]
    fn a_handler_ends_with_its_return() {
        let rounds = |count: i64, then: C| -> Vec<Call> {
            let round = |n: i64| {
                let at = 5_000 + 1_000 * n;
                let wait = Call {
                    start: Ns(at),
                    end: Some(Ns(at + 500)),
                    slept: true,
                    woken_by: Some((Tid(12), Ns(at + 400))),
                    ..call(11, C::Futex, &[0x7000, 137, 0], 7)
                };
                let wake = Call {
                    start: Ns(at + 390),
                    end: Some(Ns(at + 410)),
                    ret: Some(1),
                    ..call(12, C::Futex, &[0x7000, 129, 1], 8)
                };
                let end = Call { start: Ns(at + 420), end: None, ret: None, ..call(12, then, &[], 9) };
                [wait, wake, end]
            };
            (0..count).flat_map(round).collect()
        };
        for (what, priority, calls, expected) in [
            ("a handler", 0, rounds(5, C::RtSigreturn), true),
            ("seldom", 0, rounds(4, C::RtSigreturn), false),
            ("no handler", 0, rounds(5, C::Write), false),
            ("a handler of higher priority", 60, rounds(5, C::RtSigreturn), false),
        ] {
            let policy = if priority > 0 { Policy::Fifo } else { Policy::Other };
            let mut observation = program(&[(11, Policy::Fifo, 50), (12, policy, priority)]);
            observation.calls = calls;
            let line =
                |line| if expected { vec![("signal-to-other-thread", Some(line))] } else { Vec::new() };
            assert_eq!(found(&observation), line(8), "{what}");
            observation.calls.insert(0, Call { start: Ns(10), ..call(11, C::TimerCreate, &[1], 3) });
            assert_eq!(found(&observation), line(3), "{what}, with its timer");
        }
    }
}
