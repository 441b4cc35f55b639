//! Barriers at which threads of different priorities meet again and again.

use super::lines::times;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::{DoctorFinding, FoundThread, set_priority};
use crate::doctor::futex_words::{FutexUse, FutexWord, words};
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "barrier-unequal-priorities",
    page: page!("barrier-unequal-priorities"),
    needs: Needs::Calls,
    find,
};

/// A barrier at the start is crossed once.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    words(observation).iter().filter_map(|word| finding(observation, word)).collect()
}

/// glibc's barrier waits by `FUTEX_WAIT` for the number of a round, and the last thread wakes all
/// (`nptl/pthread_barrier_wait.c`).
fn finding(observation: &Observation, word: &FutexWord<'_>) -> Option<DoctorFinding> {
    let rounds = word.uses.iter().filter(|one| one.futex.wakes_all()).count();
    let mut values: Vec<u32> = word.waits().map(|wait| wait.futex.value()).collect();
    values.sort_unstable();
    values.dedup();
    let is_barrier = values.len() > 1
        && rounds >= ENOUGH
        && word.waits().all(|wait| wait.futex.is_plain_wait())
        && word.uses.iter().all(|one| one.futex.is_wait() || one.futex.wakes_all());
    // A condition variable waits in this way as well, until its last waiters are gone (`nptl/pthread_cond_common.c`).
    let is_of_condvar =
        |one: &FutexUse<'_>| observation.functions(one.call.stack).any(|name| name.contains("cond"));
    if word.uses.iter().any(is_of_condvar) {
        return None;
    }
    let (highest, lowest) = word.ranks().filter(|_| is_barrier)?;
    if highest == lowest {
        return None;
    }
    let waits = word.waits().filter(|wait| wait.thread.rank() == highest && wait.thread.wants_realtime());
    let worst = waits.max_by_key(|wait| wait.call.duration())?;
    let waiter = worst.thread;
    let last = word.uses.iter().find(|one| one.futex.wakes_all() && one.thread.rank() < highest)?;
    let title = format!(
        "{} meets {} at a barrier: {}",
        waiter.ranked_name(),
        last.thread.ranked_name(),
        times(rounds)
    );
    let mut finding = DoctorFinding::new(RULE.code, Severity::Warning, title)
        .of(waiter)
        .at(observation.location(worst.call.stack))
        .times(rounds, worst.call.duration())
        .because(WHY)
        .fix(FIX)
        .action(0, set_priority(last.thread, None, waiter.priority));
    finding.other = Some((FoundThread::from(last.thread), observation.location(last.call.stack)));
    Some(finding)
}

const WHY: &str = "all threads of a barrier wait for the last one: the thread of the highest priority has in effect the lowest, \
     and a barrier has no priority inheritance";

const FIX: &[&str] = &[
    "give all threads of a barrier the same priority",
    "let the thread with the deadline not wait: it takes the latest data that is there (two buffers that are exchanged)",
];
