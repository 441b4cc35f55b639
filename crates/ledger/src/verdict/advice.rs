//! What to do where the culprit's own cause is not the whole answer.

use crate::causes::advised::{Advised, ITS_PROGRAM, all_by_hand};
use crate::model::Culprit;
use whylate_base::{AdvisedFix, Priority};

/// What to do where `expirer`, the thread that runs expired timers, had to wait for the culprit.
pub(crate) fn expirer(expirer: &Culprit, of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    let Culprit::Task { tid, comm, .. } = expirer else { return Vec::new() };
    // It is the thread of timers that is late behind the culprit.
    let behind = Advised { late: Some((*tid, *comm)), priority: None::<Priority>, ..*of };
    vec![
        AdvisedFix::by_hand(
            "sleep at a real-time priority with clock_nanosleep(2): on PREEMPT_RT only such timers expire in the \
             interrupt itself; those of other threads, timerfds and signals expire in a thread",
            ITS_PROGRAM,
        ),
        AdvisedFix::new(
            format!(
                "give {expirer} a priority above {by}: chrt -f -p PRIORITY TID; risk: the callbacks of all timers then \
                 have priority over it"
            ),
            behind.raise_late(),
        ),
        AdvisedFix::new(format!("move {by} to another CPU: taskset -pc CPUS TID"), of.move_culprit()),
    ]
}

/// What to do about a thread that has priority over the late thread only because it holds a lock.
pub(super) fn boosted() -> Vec<AdvisedFix> {
    all_by_hand(
        "the programs that share the lock are to be changed",
        &[
            "hold the lock for a shorter time: its owner inherits the priority of the thread that waits for it",
            "do not share that lock with threads of higher priority than the late thread",
        ],
    )
}
