//! Condition variables whose signal wakes many threads at once, again and again.

use super::lines::{Line, by_line, times};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use crate::doctor::futex_words::{FutexWord, words};
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "condvar-herd", page: page!("condvar-herd"), needs: Needs::Calls, find };

/// Two threads that wait for one event are no herd.
const HERD: i64 = 3;
/// A broadcast at the start or at the end is no rhythm.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let words = words(observation);
    let condvars = words.iter().filter(|word| word.waits().all(|wait| !wait.futex.is_plain_wait()));
    let herds: Vec<Herd<'_>> = condvars.flat_map(herds).collect();
    let lines = by_line(observation, herds.iter().map(|herd| (herd.caller, herd.call)));
    let recurring = lines.iter().filter(|line| line.items.len() >= ENOUGH);
    recurring.filter_map(|line| finding(line, &herds)).collect()
}

/// A wake-up of many threads, a real-time one among those that wait there.
struct Herd<'a> {
    caller: &'a ThreadFacts,
    call: &'a Call,
    waiter: &'a ThreadFacts,
}

/// The call returns how many waiters it woke (futex(2)).
fn herds<'a>(word: &FutexWord<'a>) -> Vec<Herd<'a>> {
    let realtime = word.waits().map(|wait| wait.thread).filter(|thread| thread.wants_realtime());
    let Some(waiter) = realtime.max_by_key(|thread| thread.rank()) else { return Vec::new() };
    let herds = word
        .uses
        .iter()
        .filter(|one| one.futex.wakes_all() && one.call.ret.is_some_and(|woken| woken >= HERD));
    herds.map(|one| Herd { caller: one.thread, call: one.call, waiter }).collect()
}

fn finding(line: &Line<'_, Call>, herds: &[Herd<'_>]) -> Option<DoctorFinding> {
    let most = line.items.iter().filter_map(|call| call.ret).max()?;
    let waiter =
        herds.iter().find(|herd| line.items.iter().any(|call| std::ptr::eq(*call, herd.call)))?.waiter;
    let title = format!(
        "{} wakes up to {most} threads at once, {} among them: {}",
        line.name(),
        waiter.ranked_name(),
        times(line.items.len())
    );
    Some(line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX))
}

const WHY: &str = "pthread_cond_broadcast() wakes every waiter, and all of them need the mutex: each waits for all that got it \
     before, and most find nothing to do";

const FIX: &[&str] = &[
    "pthread_cond_signal() where one thread can do the work",
    "one condition variable for each thread or kind of event",
];
