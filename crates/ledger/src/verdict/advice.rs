//! What to do where the culprit's own cause is not the whole answer.

use crate::model::Culprit;

/// What to do where `expirer`, the thread that runs expired timers, had to wait for `by`.
pub(crate) fn expirer(expirer: &Culprit, by: Option<&Culprit>) -> Vec<String> {
    let by = by.map_or_else(|| "the other thread".to_owned(), Culprit::to_string);
    vec![
        "sleep at a real-time priority with clock_nanosleep(2): on PREEMPT_RT only such timers expire in the \
         interrupt itself; those of other threads, timerfds and signals expire in a thread"
            .to_owned(),
        format!(
            "give {expirer} a priority above {by}: chrt -f -p PRIORITY TID; risk: the callbacks of all timers then \
             have priority over it"
        ),
        format!("move {by} to another CPU: taskset -pc CPUS TID"),
    ]
}

/// What to do about a thread that has priority over the late thread only because it holds a lock.
pub(super) fn boosted() -> Vec<String> {
    vec![
        "hold the lock for a shorter time: its owner inherits the priority of the thread that waits for it"
            .to_owned(),
        "do not share that lock with threads of higher priority than the late thread".to_owned(),
    ]
}
