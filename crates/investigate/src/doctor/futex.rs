//! What a `futex(2)` call does.

use super::calls::SystemCall;
use super::facts::Call;

/// A call of `futex(2)`, by its arguments (`include/uapi/linux/futex.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FutexCall {
    /// The word's address.
    pub(super) address: u64,
    operation: u32,
    value: u32,
}

const WAIT: u32 = 0;
const WAKE: u32 = 1;
const LOCK_PI: u32 = 6;
const UNLOCK_PI: u32 = 7;
const WAIT_BITSET: u32 = 9;
const WAKE_BITSET: u32 = 10;
const LOCK_PI2: u32 = 13;
/// The bits that name the operation; above are FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const OPERATION: u32 = 0x7f;
const CLOCK_REALTIME: u32 = 256;
const PRIVATE: u32 = 128;
/// The value of a mutex that is held and has waiters, in glibc, musl and Rust's library.
const LOCKED_WITH_WAITERS: u32 = 2;
/// A robust mutex holds its owner's thread id and this bit (`FUTEX_WAITERS`, `FUTEX_TID_MASK`).
const WAITERS: u32 = 0x8000_0000;
const OWNER: u32 = 0x3fff_ffff;
/// A broadcast wakes `INT_MAX` waiters.
const ALL: u32 = i32::MAX as u32;

impl FutexCall {
    /// The call's meaning; `None` for another system call.
    pub(super) fn of(call: &Call) -> Option<FutexCall> {
        let [address, operation, value, ..] = call.args;
        (call.call == SystemCall::Futex).then_some(FutexCall {
            address,
            operation: operation as u32,
            value: value as u32,
        })
    }

    /// True for a wait until another thread changes the word.
    pub(super) fn is_wait(&self) -> bool {
        matches!(self.operation & OPERATION, WAIT | WAIT_BITSET)
    }

    /// True for `FUTEX_WAIT`, which glibc's mutexes and barriers use; its condition variables and semaphores use
    /// `FUTEX_WAIT_BITSET`.
    pub(super) fn is_plain_wait(&self) -> bool {
        self.operation & OPERATION == WAIT
    }

    /// True for a wait of a lock, with or without priority inheritance.
    pub(super) fn is_lock(&self) -> bool {
        self.is_pi() || self.is_mutex_wait()
    }

    /// True for a wait for a word that holds what a mutex without priority inheritance holds.
    pub(super) fn is_mutex_wait(&self) -> bool {
        let is_robust = self.is_plain_wait() && self.value & WAITERS != 0 && self.value & OWNER != 0;
        self.is_wait() && (self.value == LOCKED_WITH_WAITERS || is_robust)
    }

    /// True for an operation of a lock with priority inheritance.
    pub(super) fn is_pi(&self) -> bool {
        matches!(self.operation & OPERATION, LOCK_PI | LOCK_PI2 | UNLOCK_PI)
    }

    /// True for a wake-up of one waiter.
    pub(super) fn wakes_one(&self) -> bool {
        self.is_wake() && self.value == 1
    }

    /// True for a wake-up of all waiters.
    pub(super) fn wakes_all(&self) -> bool {
        self.is_wake() && self.value == ALL
    }

    /// True where a timeout would be on CLOCK_REALTIME.
    pub(super) fn is_realtime_clock(&self) -> bool {
        self.operation & CLOCK_REALTIME != 0
    }

    /// True where only threads of this process use the word (FUTEX_PRIVATE_FLAG).
    pub(super) fn is_private(&self) -> bool {
        self.operation & PRIVATE != 0
    }

    /// The expected or counted value.
    pub(super) fn value(&self) -> u32 {
        self.value
    }

    fn is_wake(&self) -> bool {
        matches!(self.operation & OPERATION, WAKE | WAKE_BITSET)
    }
}
