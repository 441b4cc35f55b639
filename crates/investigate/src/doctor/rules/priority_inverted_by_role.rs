//! Threads that do little but wait for a thread of lower priority.

use super::rule::{DoctorRule, Needs, page};
use super::wakers::{CallsByThread, Wait, by_pair, finding, waits};
use crate::doctor::facts::Observation;
use crate::doctor::finding::{DoctorFinding, set_priority};
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "priority-inverted-by-role",
    page: page!("priority-inverted-by-role"),
    needs: Needs::Calls,
    find,
};

/// Fewer waits are no role.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = CallsByThread::new(observation);
    let waits = waits(observation, &calls);
    let for_lower = waits.iter().copied().filter(is_for_lower);
    by_pair(for_lower.collect())
        .iter()
        .filter(|pair| is_role(observation, pair) && !is_server(pair, &waits))
        .filter_map(|waits| {
            let found = finding(observation, RULE.code, Severity::Info, "waits for", waits)?;
            let found = found.because(WHY).fix(FIX);
            let Some(wait) = waits.first() else { return Some(found) };
            Some(
                found
                    .action(0, set_priority(wait.by, None, wait.thread.priority))
                    .action(1, set_priority(wait.thread, None, wait.by.priority)),
            )
        })
        .collect()
}

fn is_for_lower(wait: &Wait<'_>) -> bool {
    wait.by.policy.is_realtime() && wait.by.rank() < wait.thread.rank()
}

/// Most of the sleeps of the thread are waits for the other one.
fn is_role(observation: &Observation, waits: &[Wait<'_>]) -> bool {
    let Some(tid) = waits.first().map(|wait| wait.thread.tid) else { return false };
    let sleeps = observation.path_calls().filter(|(thread, call)| thread.tid == tid && call.slept).count();
    waits.len() >= ENOUGH && 2 * waits.len() > sleeps
}

/// A thread that serves another one waits for its requests, and has the higher priority for that reason.
fn is_server(pair: &[Wait<'_>], waits: &[Wait<'_>]) -> bool {
    pair.first().is_some_and(|one| {
        let answers = |wait: &&Wait<'_>| (wait.thread.tid, wait.by.tid) == (one.by.tid, one.thread.tid);
        waits.iter().filter(answers).count() >= ENOUGH
    })
}

const WHY: &str = "what the thread of the higher priority does is due only when the other one has run: all threads of priorities \
     between the two delay both, so the higher priority is worth no more than the lower one";

const FIX: &[&str] = &[
    "give the thread that is waited for a priority at or above that of the waiting one",
    "where the data may be late, give the waiting thread the lower priority",
];

#[cfg(test)]
mod tests {
    use crate::doctor::calls::SystemCall as C;
    use crate::doctor::facts::Call;
    use crate::doctor::made_up::{call, found, program};
    use whylate_base::{Ns, Policy, Tid};

    #[test]
    fn only_the_role_of_most_waits_counts() {
        let read = |n: i64, by: Option<i32>| Call {
            start: Ns(5_000 + 1_000 * n),
            end: Some(Ns(5_500 + 1_000 * n)),
            slept: true,
            woken_by: by.map(|by| (Tid(by), Ns(5_400 + 1_000 * n))),
            ..call(11, C::Read, &[4], 7)
        };
        let write = |n: i64| Call {
            start: Ns(5_390 + 1_000 * n),
            end: Some(Ns(5_450 + 1_000 * n)),
            ..call(12, C::Write, &[5], 8)
        };
        let calls = |by: &[Option<i32>]| -> Vec<Call> {
            (0..).zip(by).flat_map(|(n, &by)| [read(n, by), write(n)]).collect()
        };
        let (lower, timer) = (Some(12), None);
        for (what, policy, priority, by, expected) in [
            ("lower", Policy::Fifo, 20, &[lower; 5][..], true),
            ("seldom", Policy::Fifo, 20, &[lower; 4], false),
            ("higher", Policy::Fifo, 80, &[lower; 5], false),
            ("not real-time", Policy::Other, 0, &[lower; 5], false),
            ("mostly a timer", Policy::Fifo, 20, &[[lower; 5], [timer; 5]].concat(), false),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50), (12, policy, priority)]);
            observation.calls = calls(by);
            let expected: &[_] = if expected { &[("priority-inverted-by-role", Some(7))] } else { &[] };
            assert_eq!(found(&observation), expected, "{what}");
        }
    }
}
