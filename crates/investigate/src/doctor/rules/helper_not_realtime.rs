//! Ordinary threads that a real-time thread asks for something, and waits for.

use super::rule::{DoctorRule, Needs, page};
use super::wakers::{CallsByThread, Wait, by_pair, finding, is_answer, waits};
use crate::doctor::facts::Observation;
use crate::doctor::finding::{DoctorFinding, set_priority};
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "helper-not-realtime", page: page!("helper-not-realtime"), needs: Needs::Calls, find };

/// Fewer answers are no part of the period.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = CallsByThread::new(observation);
    let answers =
        waits(observation, &calls).into_iter().filter(|wait| is_ordinary(wait) && is_answer(wait, &calls));
    by_pair(answers.collect())
        .iter()
        .filter(|waits| waits.len() >= ENOUGH)
        .filter_map(|waits| {
            let found = finding(observation, RULE.code, Severity::Warning, "waits for an answer of", waits)?;
            let found = found.because(WHY).fix(FIX);
            let Some(wait) = waits.first().filter(|wait| wait.thread.policy.is_realtime()) else {
                return Some(found);
            };
            Some(found.action(0, set_priority(wait.by, None, wait.thread.priority)))
        })
        .collect()
}

fn is_ordinary(wait: &Wait<'_>) -> bool {
    !wait.by.wants_realtime()
}

const WHY: &str = "the real-time thread is only as fast as the other one, which every busy program on its CPU delays by \
     milliseconds, and which no priority inheritance helps";

const FIX: &[&str] = &[
    "give the helper a real-time priority, at or above that of the thread that waits for it",
    "do not wait: take the answer in a later period, when it is there",
    "do the work in the real-time thread itself",
];

#[cfg(test)]
mod tests {
    use crate::doctor::calls::SystemCall as C;
    use crate::doctor::facts::Call;
    use crate::doctor::made_up::{call, found, program};
    use whylate_base::{Ns, Policy, Tid};

    const WAIT: u64 = 137;
    const WAKE: u64 = 129;

    fn futex(
        tid: i32,
        operation: u64,
        start: i64,
        end: i64,
        woken_by: Option<(i32, i64)>,
        line: u32,
    ) -> Call {
        Call {
            start: Ns(start),
            end: Some(Ns(end)),
            ret: Some(i64::from(operation == WAKE)),
            slept: woken_by.is_some(),
            woken_by: woken_by.map(|(by, at)| (Tid(by), Ns(at))),
            ..call(tid, C::Futex, &[0x7000 + tid as u64, operation, 0], line)
        }
    }

    /// Rounds in each of which 11 wakes 12, and waits until 12 wakes it.
    fn rounds(count: i64, asked_by: i32) -> Vec<Call> {
        let round = |n: i64| {
            let at = 5_000 + 1_000 * n;
            [
                futex(12, WAIT, at - 300, at + 25, Some((asked_by, at + 10)), 8),
                futex(11, WAKE, at, at + 20, None, 6),
                futex(11, WAIT, at + 30, at + 220, Some((12, at + 200)), 7),
                futex(12, WAKE, at + 190, at + 210, None, 9),
            ]
        };
        let mut calls: Vec<Call> = (0..count).flat_map(round).collect();
        calls.sort_by_key(|call| call.start);
        calls
    }

    #[test]
    fn an_answer_in_each_round_is_waited_for() {
        use Policy::{Fifo, Other};
        for (what, policy, calls, expected) in [
            ("an ordinary helper", Other, rounds(5, 11), true),
            ("now and then", Other, rounds(4, 11), false),
            ("a real-time helper", Fifo, rounds(5, 11), false),
            ("input that was not asked for", Other, rounds(5, 13), false),
        ] {
            let mut observation =
                program(&[(11, Fifo, 50), (12, policy, if policy == Fifo { 60 } else { 0 })]);
            observation.calls = calls;
            let expected: &[_] = if expected { &[("helper-not-realtime", Some(7))] } else { &[] };
            assert_eq!(found(&observation), expected, "{what}");
        }
    }
}
