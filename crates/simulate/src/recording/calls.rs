//! The system calls that show what a thread sleeps for.

use super::tape::LockKey;
use whylate_base::Tid;
use whylate_events::Syscall;

/// Numbers of system calls (`arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`).
#[derive(Clone, Copy, Debug)]
pub(super) struct CallNumbers {
    futex: i64,
    nanosleep: i64,
    clock_nanosleep: i64,
    sched_setaffinity: i64,
}

/// What a call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// It waits for this lock if it sleeps.
    Lock(LockKey),
    /// It sleeps for a time (true), or until an instant.
    Sleep(bool),
    /// It sets the CPUs of this thread, or of its own with 0.
    SetsCpus(Tid),
    Nothing,
}

/// TIMER_ABSTIME of clock_nanosleep(2).
const ABSTIME: u64 = 1;
/// The operation of futex(2) without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const OPERATION: u64 = 0x7f;
const FUTEX_WAIT: u64 = 0;
const FUTEX_LOCK_PI: u64 = 6;
const FUTEX_WAIT_BITSET: u64 = 9;
const FUTEX_LOCK_PI2: u64 = 13;
/// The word of a mutex that others wait for, in glibc and musl.
const LOCKED_WITH_WAITERS: u64 = 2;

impl CallNumbers {
    /// Of an architecture as `uname -m` names it.
    pub(super) fn of(machine: &str) -> Option<CallNumbers> {
        match machine {
            "x86_64" => {
                Some(CallNumbers { futex: 202, nanosleep: 35, clock_nanosleep: 230, sched_setaffinity: 203 })
            }
            "aarch64" | "aarch64_be" | "riscv64" => {
                Some(CallNumbers { futex: 98, nanosleep: 101, clock_nanosleep: 115, sched_setaffinity: 122 })
            }
            machine if machine.starts_with("armv") => {
                Some(CallNumbers { futex: 240, nanosleep: 162, clock_nanosleep: 265, sched_setaffinity: 241 })
            }
            _ => None,
        }
    }

    pub(super) fn shown(&self, call: &Syscall) -> Shown {
        let [address, operation, value, ..] = call.args;
        if call.nr == self.futex {
            match operation & OPERATION {
                FUTEX_LOCK_PI | FUTEX_LOCK_PI2 => Shown::Lock(LockKey { address, inherits: true }),
                FUTEX_WAIT | FUTEX_WAIT_BITSET if value & 0xffff_ffff == LOCKED_WITH_WAITERS => {
                    Shown::Lock(LockKey { address, inherits: false })
                }
                _ => Shown::Nothing,
            }
        } else if call.nr == self.nanosleep {
            Shown::Sleep(true)
        } else if call.nr == self.clock_nanosleep {
            Shown::Sleep(operation & ABSTIME == 0)
        } else if call.nr == self.sched_setaffinity {
            Shown::SetsCpus(Tid(address as i32))
        } else {
            Shown::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_show_locks_and_sleeps() {
        let numbers = CallNumbers::of("x86_64").expect("known");
        let call = |nr, args: [u64; 3]| Syscall { nr, args: [args[0], args[1], args[2], 0, 0, 0] };
        for (call, shown) in [
            (call(202, [0x10, 0x86, 0]), Shown::Lock(LockKey { address: 0x10, inherits: true })),
            (call(202, [0x10, 0x80, 2]), Shown::Lock(LockKey { address: 0x10, inherits: false })),
            (call(202, [0x10, 0x80, 0]), Shown::Nothing),
            (call(202, [0x10, 0x81, 2]), Shown::Nothing),
            (call(35, [0, 0, 0]), Shown::Sleep(true)),
            (call(230, [1, 1, 0]), Shown::Sleep(false)),
            (call(230, [1, 0, 0]), Shown::Sleep(true)),
            (call(203, [7, 8, 0]), Shown::SetsCpus(Tid(7))),
            (call(0, [0, 0, 0]), Shown::Nothing),
        ] {
            assert_eq!(numbers.shown(&call), shown, "{call:?}");
        }
        assert!(CallNumbers::of("sparc").is_none());
    }
}
