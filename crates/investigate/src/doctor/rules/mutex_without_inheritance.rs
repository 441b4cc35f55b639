//! Mutexes without priority inheritance that threads of different priorities contend for.

use super::lines::times;
use super::purpose::is_rwlock;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::{DoctorFinding, FoundThread};
use crate::doctor::futex_words::{FutexUse, FutexWord, words};
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "mutex-without-inheritance",
    page: page!("mutex-without-inheritance"),
    needs: Needs::Calls,
    find,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    // Some words of a reader-writer lock have the same values.
    let is_rwlock = |word: &FutexWord<'_>| word.waits().any(|wait| is_rwlock(observation, wait.call));
    let words = words(observation).into_iter().filter(|word| !is_rwlock(word));
    words.filter_map(|word| finding(observation, &word)).collect()
}

/// The thread that releases a mutex is the one that held it. A new thread waits for such a lock as well, before it
/// runs: `pthread_create()` holds it while it sets the thread's priority (`nptl/pthread_create.c`).
fn finding(observation: &Observation, word: &FutexWord<'_>) -> Option<DoctorFinding> {
    let is_in_path =
        |wait: &FutexUse<'_>| wait.thread.path.is_some_and(|path| path.contains(wait.call.start));
    let counts =
        |wait: &&FutexUse<'_>| wait.thread.wants_realtime() && wait.futex.is_mutex_wait() && is_in_path(wait);
    let waits: Vec<&FutexUse<'_>> = word.waits().filter(counts).collect();
    let victim = waits.iter().max_by_key(|wait| wait.thread.rank()).filter(|_| word.is_mutex())?.thread;
    let waits: Vec<&FutexUse<'_>> = waits.into_iter().filter(|wait| wait.thread.tid == victim.tid).collect();
    let releases = word.uses.iter().filter(|one| one.futex.wakes_one() && one.thread.rank() < victim.rank());
    let holder = releases.min_by_key(|one| one.thread.rank())?;
    let worst = waits.iter().max_by_key(|wait| wait.call.duration())?;
    let title = format!(
        "{} waited for a mutex without priority inheritance that {} held: {}",
        victim.ranked_name(),
        holder.thread.ranked_name(),
        times(waits.len())
    );
    let placed = waits.iter().find_map(|wait| observation.location(wait.call.stack));
    let mut finding = DoctorFinding::new(RULE.code, Severity::Error, title)
        .of(victim)
        .at(observation.location(worst.call.stack).or(placed))
        .times(waits.len(), worst.call.duration())
        .because(WHY)
        .fix(FIX);
    finding.other = Some((FoundThread::from(holder.thread), observation.location(holder.call.stack)));
    Some(finding)
}

const WHY: &str = "the owner keeps its own low priority while it holds the mutex: every thread of a priority between the two keeps \
     the owner off the CPU, and so the waiting thread, for as long as it likes (priority inversion)";

const FIX: &[&str] = &[
    "pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT); pthread_mutex_init(&mutex, &attr); the mutexes of C++, Rust and \
     Python have no such option: use a pthread mutex",
    "share no lock between these threads: pass data by a lock-free queue",
];
