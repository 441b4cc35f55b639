//! Which thread holds the lock that another waits for: futexes, and the mutexes of glibc.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use whylate_base::Tid;
use whylate_stacks::{MUTEX_BYTES, held_mutex};

/// Operations without their flags (`include/uapi/linux/futex.h`).
const WAIT: u64 = 0;
const LOCK_PI: u64 = 6;
const WAIT_BITSET: u64 = 9;
const WAIT_REQUEUE_PI: u64 = 11;
const LOCK_PI2: u64 = 13;
/// `FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME`
const FLAGS: u64 = 128 | 256;
/// The owner in the word of a futex with priority inheritance (`FUTEX_TID_MASK`).
const OWNER: u32 = 0x3fff_ffff;
/// The value of the word of a mutex that another thread waits for (`nptl/lowlevellock.h`).
const CONTENDED: u32 = 2;

/// A wait for a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) address: u64,
    lock: Lock,
}

/// How a lock names its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    /// In its word.
    Inheriting,
    /// As a mutex of glibc may, if it is one.
    Plain,
    /// Not a lock: a condition variable, a semaphore, a barrier.
    None,
}

impl Wait {
    /// By the arguments of futex(2); `None` for a call that does not wait.
    pub(super) fn of(address: u64, operation: u64, value: u64) -> Option<Wait> {
        let lock = match operation & !FLAGS {
            LOCK_PI | LOCK_PI2 => Lock::Inheriting,
            WAIT | WAIT_BITSET if value as u32 == CONTENDED => Lock::Plain,
            WAIT | WAIT_BITSET | WAIT_REQUEUE_PI => Lock::None,
            _ => return None,
        };
        Some(Wait { address, lock })
    }
}

/// The thread that holds the lock, by the memory of the waiting process.
pub(super) fn owner(pid: i32, wait: &Wait) -> Option<Tid> {
    let mut bytes = [0; MUTEX_BYTES];
    let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
    // A lock at the very end of what is mapped is no mutex of glibc.
    memory.read_exact_at(&mut bytes, wait.address).ok()?;
    named(wait.lock, &bytes).filter(|owner| is_thread_of(pid, *owner))
}

/// The owner that the words name.
fn named(lock: Lock, bytes: &[u8; MUTEX_BYTES]) -> Option<Tid> {
    match lock {
        Lock::Inheriting => {
            let word = u32::from_ne_bytes(*bytes.first_chunk()?);
            i32::try_from(word & OWNER).ok().filter(|&tid| tid > 0).map(Tid)
        }
        Lock::Plain => held_mutex(bytes).map(|mutex| mutex.owner),
        Lock::None => None,
    }
}

/// A number that is no thread of the process was something else: the word is of another library's lock.
fn is_thread_of(pid: i32, tid: Tid) -> bool {
    Path::new(&format!("/proc/{pid}/task/{tid}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    fn bytes(words: [u32; 5]) -> [u8; MUTEX_BYTES] {
        let mut bytes = [0; MUTEX_BYTES];
        bytes.chunks_exact_mut(4).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
        bytes
    }

    #[test]
    fn only_locks_have_owners() {
        let lock = |operation, value| Wait::of(0x1000, operation, value).map(|wait| wait.lock);
        assert_eq!(lock(128, 2), Some(Lock::Plain));
        assert_eq!(lock(128 | 9 | 256, 0), Some(Lock::None), "a condition variable");
        assert_eq!(lock(128 | 6, 0), Some(Lock::Inheriting));
        assert_eq!(lock(128 | 1, 1), None, "a wake-up");
        assert_eq!(named(Lock::Inheriting, &bytes([0x8000_0000 | 77, 0, 5, 0, 0])), Some(Tid(77)));
        assert_eq!(named(Lock::Plain, &bytes([2, 0, 78, 1, 0])), Some(Tid(78)));
        assert_eq!(named(Lock::Plain, &bytes([1, 0, 78, 1, 0])), None, "nothing waits any more");
        assert_eq!(named(Lock::Plain, &bytes([2, 0, 78, 1, 0x7f00_1234])), None, "no kind of mutex");
        assert_eq!(named(Lock::None, &bytes([2, 0, 78, 1, 0])), None);
    }

    #[test]
    fn an_owner_is_read_from_the_memory_of_this_process() {
        let pid = i32::try_from(std::process::id()).expect("a number");
        let own = whylate_sys::gettid();
        // Laid out as a mutex of glibc that this thread holds.
        let mutex = [2, 0, own.0 as u32, 1, 0].map(AtomicU32::new);
        let address = std::ptr::from_ref(&mutex) as u64;
        let wait = Wait::of(address, 128, 2).expect("a wait");
        assert_eq!(owner(pid, &wait), Some(own));
        mutex[2].store(1, SeqCst);
        assert_eq!(owner(pid, &wait), None, "process 1 has no thread in this process");
    }
}
