//! Reader-writer locks that a real-time thread waited for.

use super::lines::times;
use super::purpose::is_rwlock;
use super::rule::{DoctorRule, Needs, page};
use super::wakers::{CallsByThread, Wait, by_pair, finding, wait};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "rwlock-without-inheritance",
    page: page!("rwlock-without-inheritance"),
    needs: Needs::Calls,
    find,
};

/// A thread that lets the waiting one go on had the lock.
fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = CallsByThread::new(observation);
    let waits = observation.path_calls().filter_map(|(thread, call)| {
        let is_one = call.call == SystemCall::Futex && is_rwlock(observation, call);
        let wait = wait(observation, &calls, thread, call).filter(|_| is_one)?;
        (wait.by.rank() < thread.rank()).then_some(wait)
    });
    by_pair(waits.collect()).iter().filter_map(|waits| of_pair(observation, waits)).collect()
}

fn of_pair(observation: &Observation, waits: &[Wait<'_>]) -> Option<DoctorFinding> {
    let found = finding(observation, RULE.code, Severity::Warning, "waited for a reader-writer lock", waits)?;
    let (thread, by) = waits.first().map(|wait| (wait.thread, wait.by))?;
    let title = format!(
        "{} waited for a reader-writer lock that {} held: {}",
        thread.ranked_name(),
        by.ranked_name(),
        times(waits.len())
    );
    Some(DoctorFinding { title, ..found }.because(WHY).fix(FIX))
}

const WHY: &str = "a reader-writer lock has no priority inheritance on Linux: while a thread of low priority reads or writes, every \
     thread of a priority between the two delays the waiting one for as long as it likes (priority inversion), and a writer \
     waits for all readers";

const FIX: &[&str] = &[
    "a pthread mutex with PTHREAD_PRIO_INHERIT, held briefly: readers that only copy do not need to read together",
    "publish the data without a lock: a pointer that is exchanged, two buffers, a sequence counter",
    "pthread_rwlock_trywrlock() or pthread_rwlock_tryrdlock(), and the old data where it fails",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::facts::Call;
    use crate::doctor::made_up::{call, program};
    use std::sync::Arc;
    use whylate_base::{Ns, Policy, Tid};

    #[test]
    fn only_a_wait_in_the_lock_for_a_lower_thread_is_one() {
        const WORD: u64 = 0x7000;
        let wait = Call {
            slept: true,
            woken_by: Some((Tid(12), Ns(5_080))),
            // The value of `__wrphase_futex` with PTHREAD_RWLOCK_FUTEX_USED: a mutex's with waiters as well.
            ..call(11, SystemCall::Futex, &[WORD, 393, 2], 7)
        };
        let wake = Call { start: Ns(5_070), ret: Some(1), ..call(12, SystemCall::Futex, &[WORD, 129, 1], 8) };
        let found = |calls: Vec<Call>, function: &str, priority: u32| -> Vec<_> {
            let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Fifo, priority)]);
            observation.calls = calls;
            let stacks = Arc::get_mut(&mut observation.stacks).expect("one owner");
            stacks.addresses[7].locations[0].function = Some(function.into());
            super::super::findings(&observation).into_iter().map(|finding| finding.code).collect()
        };
        let write = "___pthread_rwlock_wrlock";
        let rust = "<std::sys::sync::rwlock::futex::RwLock>::read_contended";
        assert_eq!(found(vec![wait, wake], write, 20), ["rwlock-without-inheritance"]);
        assert_eq!(found(vec![wait, wake], rust, 20), ["rwlock-without-inheritance"]);
        assert_eq!(found(vec![Call { slept: false, ..wait }, wake], write, 20), [""; 0]);
        assert_eq!(found(vec![wait, wake], write, 60), [""; 0]);
        assert_eq!(found(vec![wait, wake], "pthread_rwlock_unlock", 20), ["mutex-without-inheritance"]);
    }
}
