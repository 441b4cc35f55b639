//! What to do about a lock of a program that is no mutex of pthreads.

use super::advised::{Advised, ITS_PROGRAM};
use crate::timeline::sleeps::NoMutex;
use whylate_base::AdvisedFix;

pub(super) fn advice(of: &Advised<'_>, kind: NoMutex) -> Vec<AdvisedFix> {
    let other = match kind {
        NoMutex::OfPthreads => {
            "it is no mutex of pthreads, but a read-write lock, a condition or a semaphore, which \
             has no priority inheritance: share the data with the loop by a mutex that has it, or by a copy that is replaced as a whole"
        }
        NoMutex::WakesAll => {
            "its owner woke all threads that waited for it, and the unlock of a mutex wakes one: an initialization that is made once \
             (pthread_once, call_once, a local static variable of C++) has no priority inheritance; call what makes it before the loop begins"
        }
        NoMutex::OfFile => {
            "it is the lock of a file (flock, fcntl), which has no priority inheritance: let the loop only try it (LOCK_NB, F_SETLK, \
             F_OFD_SETLK) and go on without it, or share the data by a mutex with PTHREAD_PRIO_INHERIT in shared memory \
             (PTHREAD_PROCESS_SHARED)"
        }
    };
    let waits_too = of.behind_waiter.map(|waiter| {
        let text = format!(
            "{waiter} waited for it before the late thread: a read-write lock that prefers writers lets no reader in while a writer waits \
             (pthread_rwlockattr_setkind_np)"
        );
        AdvisedFix::by_hand(text, ITS_PROGRAM)
    });
    waits_too.into_iter().chain([AdvisedFix::by_hand(other, ITS_PROGRAM)]).collect()
}
