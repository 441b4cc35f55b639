//! System calls, signals, page faults and locks, and the numbers of x86_64.

use super::scene::{Scene, Thread};
use whylate_base::Tid;
use whylate_events::{ContentionFlags, EventKind, PageFault, Signal, Syscall, SyscallReturn};

/// Numbers of x86_64.
pub(crate) mod sys {
    pub(crate) const READ: i64 = 0;
    pub(crate) const FUTEX: i64 = 202;
    pub(crate) const SEMOP: i64 = 65;
    pub(crate) const IO_GETEVENTS: i64 = 208;
    pub(crate) const SCHED_SETSCHEDULER: i64 = 144;
    pub(crate) const SCHED_SETAFFINITY: i64 = 203;
    pub(crate) const SCHED_SETATTR: i64 = 314;
    pub(crate) const CLOCK_NANOSLEEP: i64 = 230;
    pub(crate) const EXIT_GROUP: i64 = 231;
    /// `futex(word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2)`: a lock that is taken and has waiters.
    pub(crate) const LOCK: [u64; 3] = [0x7f00_0000, 0x80, 2];
    /// `clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)`.
    pub(crate) const UNTIL: [u64; 3] = [1, 1, 0];
    /// `clock_nanosleep(CLOCK_MONOTONIC, 0)`.
    pub(crate) const FOR: [u64; 3] = [1, 0, 0];
}

impl Scene {
    /// `sys_enter`
    pub(crate) fn call(self, nr: i64, args: [u64; 3]) -> Scene {
        self.event(EventKind::SyscallEnter(Syscall { nr, args: [args[0], args[1], args[2], 0, 0, 0] }))
    }

    /// `sys_exit`
    pub(crate) fn ret(self, nr: i64) -> Scene {
        self.event(EventKind::SyscallExit(SyscallReturn { nr, ret: 0 }))
    }

    /// `sys_exit` of a call that failed.
    pub(crate) fn fail(self, nr: i64, error: i64) -> Scene {
        self.event(EventKind::SyscallExit(SyscallReturn { nr, ret: -error }))
    }

    /// `signal_generate` by the kernel, to `thread`.
    pub(crate) fn kernel_sends(self, thread: Thread, sig: i32) -> Scene {
        self.event(EventKind::Signal(Signal {
            sig,
            code: Signal::SI_KERNEL,
            tid: Tid(thread.tid),
            comm: thread.name.into(),
        }))
    }

    /// `page_fault_user`
    pub(crate) fn fault(self, address: u64) -> Scene {
        self.event(EventKind::PageFault(PageFault { address, ip: 0x40_1000, user: true, error_code: 0 }))
    }

    /// The same, of a write to a page that is there and write-protected.
    pub(crate) fn fault_by_protection(self, address: u64) -> Scene {
        self.event(EventKind::PageFault(PageFault { address, ip: 0x40_1000, user: true, error_code: 7 }))
    }

    /// `contention_begin` of a sleeping lock.
    pub(crate) fn contend(self, lock: u64) -> Scene {
        self.contend_as(lock, ContentionFlags::RT)
    }

    /// The same of a lock of this kind.
    pub(crate) fn contend_as(self, lock: u64, kind: u32) -> Scene {
        self.event(EventKind::ContentionBegin { lock, flags: ContentionFlags(kind) })
    }

    /// `contention_end`
    pub(crate) fn acquire(self, lock: u64) -> Scene {
        self.event(EventKind::ContentionEnd { lock, ret: 0 })
    }
}
