//! What to do where the culprit's own cause is not the whole answer.

use crate::causes::advised::{Advised, ITS_PROGRAM, all_by_hand};
use crate::model::Culprit;
use whylate_base::{AdvisedFix, Priority};

/// What to do where `expirer`, the thread that runs expired timers, had to wait for the culprit, or for a lock.
pub(crate) fn expirer(expirer: &Culprit, of: &Advised<'_>) -> Vec<AdvisedFix> {
    let by = of.the_culprit();
    let Culprit::Task { tid, comm, .. } = expirer else { return Vec::new() };
    let moved = match of.lock_owner {
        Some(owner) if Some(owner) == of.by => held_lock(of, expirer),
        _ => of.culprit_moved(),
    };
    if of.late_is_fair() {
        // With its timer in time, it would wait behind the culprit itself.
        let raised = AdvisedFix::new(
            format!(
                "give the late thread a real-time priority above {by}: chrt -f -p PRIORITY TID; on PREEMPT_RT its sleeps \
                 then expire in the interrupt itself, but timerfds and signals expire in a thread"
            ),
            of.raise_late(),
        );
        return vec![raised, moved];
    }
    let hard = AdvisedFix::by_hand(
        "sleep at a real-time priority with clock_nanosleep(2): on PREEMPT_RT only such timers expire in the interrupt \
         itself; those of other threads, timerfds and signals expire in a thread",
        ITS_PROGRAM,
    );
    // A priority does not shorten the time for which a lock is held.
    if of.culprit_outranks_late() || of.lock_owner.is_some() {
        return vec![hard, moved];
    }
    // It is the thread of timers that is late behind the culprit.
    let behind = Advised { late: Some((*tid, *comm)), priority: None::<Priority>, ..*of };
    let raised = AdvisedFix::new(
        format!(
            "give {expirer} a priority above {by}: chrt -f -p PRIORITY TID; risk: the callbacks of all timers then have \
             priority over it"
        ),
        behind.raise_late(),
    );
    vec![hard, raised, moved]
}

/// What to do about the culprit that held a lock of the kernel for which `expirer` waited.
fn held_lock(of: &Advised<'_>, expirer: &Culprit) -> AdvisedFix {
    let by = of.the_culprit();
    let text = format!(
        "let {by} do less at a time, or on another CPU: it most likely runs with softirqs disabled, for which PREEMPT_RT has one lock for \
         each CPU that {expirer} needs as well (before Linux 6.18, or with CONFIG_PREEMPT_RT_NEEDS_BH_LOCK)"
    );
    AdvisedFix::by_hand(text, "what a thread does with softirqs disabled has settings of its own")
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

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Action, Comm, Tid};

    #[test]
    fn a_thread_that_would_wait_itself_is_raised_before_the_thread_of_timers() {
        let task = |tid, comm, priority| Culprit::Task { tid: Tid(tid), comm: Comm::from(comm), priority };
        let (timers, hog) =
            (task(18, "ktimers/0", Priority::realtime(1)), task(7, "hog", Priority::realtime(59)));
        let raised = |priority| {
            let late = Some((Tid(8), Comm::from("control")));
            let of = Advised { by: Some(&hog), priority: Some(priority), late, ..Advised::default() };
            expirer(&timers, &of).into_iter().find_map(|fix| match fix.action {
                Action::Thread { set } if set[0].priority.is_some() => {
                    Some((set[0].thread.clone(), set[0].priority))
                }
                _ => None,
            })
        };
        assert_eq!(raised(Priority::DEFAULT), Some(("control".to_owned(), Some(60))));
        assert_eq!(raised(Priority::realtime(50)), None, "both would wait");
        assert_eq!(raised(Priority::realtime(80)), Some(("ktimers/0".to_owned(), Some(60))));
    }
}
