//! System calls by number: what a thread that sleeps in one waits for, and what one asks of the scheduler.

pub(crate) use super::syscall_numbers::SyscallTable;

use super::syscall_numbers::{ARM, ARM64, GENERIC, I386, X86_64};
use crate::timeline::abi::Abi;
use crate::timeline::links::HandOff;
use crate::timeline::sleeps::Wait;
use crate::timeline::thread::Thread;
use whylate_base::{Policy, Tid};
use whylate_events::{Syscall, TaskState};

/// What a system call asks of the scheduler, for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// A policy or priority; the policy where the call has it among its arguments, and whether it does not pass to children.
    Priority { call: &'static str, policy: Option<Policy>, resets_on_fork: bool },
    /// The CPUs it may use.
    Affinity,
}

impl SyscallTable {
    /// The numbers of a machine, as `uname -m` names it; `None` for one whose table is not known here.
    pub(crate) fn of(machine: Option<&str>) -> Option<&'static SyscallTable> {
        match machine {
            Some("x86_64") | None => Some(&X86_64),
            Some("aarch64" | "aarch64_be") => Some(&ARM64),
            Some("riscv64" | "loongarch64") => Some(&GENERIC),
            Some("i686" | "i586" | "i486" | "i386") => Some(&I386),
            Some(machine) if machine.starts_with("armv") => Some(&ARM),
            Some(_) => None,
        }
    }

    /// The table by which to read the calls of a thread, where the machine's `native` one is known.
    pub(crate) fn of_thread(
        native: Option<&'static SyscallTable>,
        thread: &Thread,
    ) -> Option<&'static SyscallTable> {
        native.map(|native| native.for_abi(thread.abi))
    }

    /// The call that a thread is in, with the table by which to read it.
    pub(crate) fn call_of<'a>(
        native: Option<&'static SyscallTable>,
        thread: &'a Thread,
    ) -> Option<(&'a Syscall, &'static SyscallTable)> {
        thread.syscall.as_ref().zip(SyscallTable::of_thread(native, thread))
    }

    fn for_abi(&'static self, abi: Abi) -> &'static SyscallTable {
        match abi {
            Abi::Native => self,
            Abi::Of32Bit => self.of_32_bit.unwrap_or(self),
        }
    }

    /// True for mlockall(2) of all memory, now and later, that fills it at once.
    pub(crate) fn locks_memory(&self, call: &Syscall) -> bool {
        const CURRENT: u64 = 1;
        const FUTURE: u64 = 2;
        const ONFAULT: u64 = 4;
        call.nr == self.mlockall && call.args[0] & (CURRENT | FUTURE | ONFAULT) == CURRENT | FUTURE
    }

    /// Where mmap(2) has mapped memory, how much, and whether in huge pages, by what it returned.
    pub(crate) fn maps(&self, call: &Syscall, returned: i64) -> Option<(u64, u64, bool)> {
        const MAP_HUGETLB: u64 = 0x4_0000;
        let address = u64::try_from(returned).ok().filter(|&address| address > 0 && call.nr == self.mmap)?;
        Some((address, call.args[1], call.args[3] & MAP_HUGETLB != 0))
    }

    /// True when a thread that sleeps interruptibly in this call is a 32-bit program's: the call of that number does
    /// not sleep so in a 64-bit one. Nothing else in a recording tells the two apart.
    pub(crate) fn shows_32_bit(&self, call: &Syscall) -> bool {
        let sleeps = |table: &SyscallTable| table.is_sleep(call.nr) || table.futex.contains(&call.nr);
        let calls = [self.waits, self.semaphores, self.requests];
        let waits = calls.iter().any(|calls| calls.contains(&call.nr))
            || [self.futex_wait, FUTEX_WAITV].contains(&call.nr);
        !sleeps(self) && !waits && self.of_32_bit.is_some_and(sleeps)
    }

    /// True for the calls that sleep until or for a time.
    pub(crate) fn is_sleep(&self, nr: i64) -> bool {
        nr == self.nanosleep || self.clock_nanosleep.contains(&nr)
    }

    /// Why a thread sleeps that leaves the CPU inside this call.
    pub(crate) fn wait(&self, call: &Syscall, state: TaskState) -> Wait {
        if self.is_sleep(call.nr) {
            Wait::Period
        } else if self.futex.contains(&call.nr) {
            futex_wait(call)
        } else if call.nr == self.futex_wait || call.nr == FUTEX_WAITV {
            Wait::Semaphore { owner: None }
        } else if self.locks_file(call) {
            // The thread that gives the lock back wakes those that wait for it (`locks_wake_up_blocks`, `fs/locks.c`).
            Wait::Lock { owner: None }
        } else if call.nr == self.sched_setaffinity && state == TaskState::Uninterruptible {
            Wait::Migration
        } else if state == TaskState::Uninterruptible {
            Wait::Io
        } else if self.semaphores.contains(&call.nr) {
            Wait::Semaphore { owner: None }
        } else if self.waits.contains(&call.nr) || self.awaits_requests(call) {
            Wait::Input
        } else if [self.writes, self.sends, self.queues, self.files]
            .iter()
            .any(|calls| calls.contains(&call.nr))
        {
            Wait::Output
        } else {
            Wait::Unsure
        }
    }

    /// True for the calls in which a thread sleeps until its new child runs another program or ends: vfork(2), and clone(2) with
    /// CLONE_VFORK. `None`: the flags of clone3(2), which posix_spawn(3) calls, are not in its arguments.
    pub(crate) fn waits_for_child(&self, call: &Syscall) -> Option<bool> {
        const CLONE_VFORK: u64 = 0x4000;
        let is_vfork =
            self.vfork == Some(call.nr) || call.nr == self.clone && call.args[0] & CLONE_VFORK != 0;
        (call.nr != self.clone3).then_some(is_vfork)
    }

    /// True of a call that starts a process, where it does so with a copy of the memory: fork(2), and clone(2) without CLONE_VM. The
    /// flags of clone3(2) are not in its arguments; programs start threads with it.
    pub(crate) fn copies_memory(&self, call: &Syscall) -> bool {
        const CLONE_VM: u64 = 0x100;
        let shares = match call.nr {
            nr if nr == self.clone => call.args[0] == 0 || call.args[0] & CLONE_VM != 0,
            nr => nr == self.clone3 || self.vfork == Some(nr),
        };
        !shares
    }

    /// True for the calls in which a server waits for its next connection.
    pub(crate) fn accepts(&self, call: &Syscall) -> bool {
        self.accepts.contains(&call.nr)
    }

    /// True of a call that starts a thread of the same process: clone(2) with CLONE_THREAD, and clone3(2), with which programs start
    /// threads.
    pub(crate) fn starts_thread(&self, call: &Syscall) -> bool {
        const CLONE_THREAD: u64 = 0x1_0000;
        call.nr == self.clone3 || call.nr == self.clone && call.args[0] & CLONE_THREAD != 0
    }

    /// True for the calls that wait until a child ends.
    pub(crate) fn awaits_child(&self, call: &Syscall) -> bool {
        self.children.contains(&call.nr)
    }

    /// True for the calls that ask a file system for something other than data.
    pub(crate) fn works_on_files(&self, call: &Syscall) -> bool {
        self.files.contains(&call.nr)
    }

    /// True for the calls that write data to a file or a device, or wait until that is written.
    pub(crate) fn writes_data(&self, call: &Syscall) -> bool {
        self.writes.contains(&call.nr) || self.stores.contains(&call.nr)
    }

    /// True for the calls that wait until requests to devices are done (io_submit(2)).
    pub(crate) fn awaits_requests(&self, call: &Syscall) -> bool {
        self.requests.contains(&call.nr)
    }

    /// True for io_uring_enter(2) where it waits for anything (`min_complete`).
    pub(crate) fn awaits_ring(&self, call: &Syscall) -> bool {
        call.nr == IO_URING_ENTER && call.args[2] > 0
    }

    /// True for the calls that wait for the lock of a file: flock(2), and of fcntl(2) F_SETLKW, F_SETLKW64 and F_OFD_SETLKW.
    pub(crate) fn locks_file(&self, call: &Syscall) -> bool {
        const WAITING: [u64; 3] = [7, 14, 38];
        call.nr == self.flock || self.fcntl.contains(&call.nr) && WAITING.contains(&call.args[1])
    }

    /// True for the calls that end a thread.
    pub(crate) fn exits(&self, call: &Syscall) -> bool {
        self.exit.contains(&call.nr)
    }

    /// True for the call by which a handler of a signal returns.
    pub(crate) fn ends_handler(&self, call: &Syscall) -> bool {
        self.sigreturn.contains(&call.nr)
    }

    /// The name of a call.
    pub(crate) fn name(&self, call: i64) -> Option<&'static str> {
        (self.names)(call)
    }

    /// Whether a call of this name that writes to a file does so with whole pages of 4 KB, as its length and offset show: no page has to be read for
    /// it. A write that goes past the page cache (O_DIRECT) is one of that kind for most devices. `None` of other calls.
    pub(crate) fn writes_whole_pages(name: &str, call: &Syscall) -> Option<bool> {
        const PAGE: u64 = 4096;
        let [_, _, length, offset, ..] = call.args;
        let is_whole = length > 0 && (length | offset).is_multiple_of(PAGE);
        match name {
            "pwrite64" => Some(is_whole),
            "write" | "writev" | "pwritev" | "pwritev2" => Some(false),
            _ => None,
        }
    }

    /// True for the call that ends the whole process.
    pub(crate) fn ends_process(&self, call: &Syscall) -> bool {
        call.nr == self.exit[1]
    }

    /// True for the calls by which a program slews the system's clocks, or asks how it does.
    pub(crate) fn adjusts_clock(&self, call: &Syscall) -> bool {
        const CLOCK_REALTIME: u64 = 0;
        call.nr == self.adjtimex || self.clock_adjtime.contains(&call.nr) && call.args[0] == CLOCK_REALTIME
    }

    /// True for the calls that are recorded of every thread, and not only of chosen ones: those that set how threads are
    /// scheduled, or adjust a clock.
    pub(crate) fn is_of_all_threads(&self, nr: i64) -> bool {
        let settings =
            [self.sched_setaffinity, self.sched_setscheduler, self.sched_setparam, self.sched_setattr];
        settings.contains(&nr) || nr == self.adjtimex || self.clock_adjtime.contains(&nr)
    }

    /// True for the call that gives way to other threads.
    pub(crate) fn yields(&self, call: &Syscall) -> bool {
        call.nr == self.sched_yield
    }

    /// True for a sleep relative to now, false for one until an instant, `None` for another call.
    pub(crate) fn sleeps_relative(&self, call: &Syscall) -> Option<bool> {
        const TIMER_ABSTIME: u64 = 1;
        if call.nr == self.nanosleep {
            Some(true)
        } else if self.clock_nanosleep.contains(&call.nr) {
            Some(call.args[1] & TIMER_ABSTIME == 0)
        } else {
            None
        }
    }

    /// True for the call by which a thread lets another go on.
    pub(crate) fn is_futex(&self, call: &Syscall) -> bool {
        self.futex.contains(&call.nr) || call.nr == FUTEX_WAKE
    }

    /// True for the calls by which a thread hands on what others wait for as for a semaphore.
    pub(crate) fn posts(&self, call: &Syscall) -> bool {
        self.is_futex(call) || self.semaphores.contains(&call.nr)
    }

    /// The word on which the call waits for others to wake it.
    pub(crate) fn waits_on(&self, call: &Syscall) -> Option<u64> {
        let waits = self.futex.contains(&call.nr)
            && [futex::WAIT, futex::WAIT_BITSET].contains(&futex::command(call));
        (waits || call.nr == self.futex_wait).then_some(call.args[0])
    }

    /// The word on which the call waits for what is no mutex of pthreads: without a timeout glibc has FUTEX_WAIT for those, and
    /// FUTEX_WAIT_BITSET by the real-time clock for read-write locks, conditions and semaphores
    /// (`__futex_abstimed_wait_common64()`, `nptl/futex-internal.c`).
    pub(crate) fn waits_for_no_mutex(&self, call: &Syscall) -> Option<u64> {
        let by_clock = call.args[1] & futex::CLOCK_REALTIME != 0 && call.args[3] == 0;
        let is_one = futex::command(call) == futex::WAIT_BITSET && by_clock;
        self.waits_on(call).filter(|_| self.is_futex(call) && is_one)
    }

    /// The word on which the call wakes others.
    pub(crate) fn wakes_on(&self, call: &Syscall) -> Option<u64> {
        let wakes = self.futex.contains(&call.nr) && futex::WAKING.contains(&futex::command(call));
        (wakes || call.nr == FUTEX_WAKE).then_some(call.args[0])
    }

    /// The word on which the call wakes several threads at once: the unlock of a mutex wakes one.
    pub(crate) fn wakes_several_on(&self, call: &Syscall) -> Option<u64> {
        let is_wake = self.futex.contains(&call.nr) && futex::command(call) == futex::WAKE;
        (is_wake && call.args[2] > 1).then_some(call.args[0])
    }

    /// By what the call lets another thread go on.
    pub(crate) fn hand_off(&self, call: &Syscall) -> HandOff {
        if self.is_futex(call) {
            HandOff::Futex
        } else if self.writes.contains(&call.nr) {
            HandOff::Write
        } else if self.sends.contains(&call.nr) || self.queues.contains(&call.nr) {
            HandOff::Send
        } else if self.signals.contains(&call.nr) {
            HandOff::Signal
        } else {
            HandOff::Wake
        }
    }

    /// What the call asks of the scheduler, and for which thread.
    pub(crate) fn setting(&self, call: &Syscall, caller: Tid) -> Option<(Setting, Tid)> {
        /// May be added to a policy (`sched(7)`).
        const SCHED_RESET_ON_FORK: u64 = 0x4000_0000;
        let resets_on_fork = call.args[1] & SCHED_RESET_ON_FORK != 0 && call.nr == self.sched_setscheduler;
        let priority = |name, policy| Setting::Priority { call: name, policy, resets_on_fork };
        let setting = if call.nr == self.sched_setaffinity {
            Setting::Affinity
        } else if call.nr == self.sched_setscheduler {
            let raw = (call.args[1] & !SCHED_RESET_ON_FORK) as u32;
            priority("sched_setscheduler", Policy::from_raw(raw))
        } else if call.nr == self.sched_setparam {
            priority("sched_setparam", None)
        } else if call.nr == self.sched_setattr {
            priority("sched_setattr", None)
        } else {
            return None;
        };
        let target = match call.args[0] as i32 {
            0 => caller,
            tid => Tid(tid),
        };
        Some((setting, target))
    }
}

/// `futex_waitv`, of the same number on all architectures: the words on which it waits are not in its arguments.
const FUTEX_WAITV: i64 = 449;
/// `futex_wake`, which has this number on all architectures.
const FUTEX_WAKE: i64 = 454;
/// io_uring_enter, of the same number on all architectures.
const IO_URING_ENTER: i64 = 426;

/// The operations of futex(2) (`include/uapi/linux/futex.h`).
mod futex {
    use whylate_events::Syscall;

    pub(super) const WAIT: u64 = 0;
    pub(super) const WAKE: u64 = 1;
    const CMP_REQUEUE: u64 = 4;
    const WAKE_OP: u64 = 5;
    pub(super) const LOCK_PI: u64 = 6;
    pub(super) const WAIT_BITSET: u64 = 9;
    const WAKE_BITSET: u64 = 10;
    pub(super) const LOCK_PI2: u64 = 13;
    pub(super) const CLOCK_REALTIME: u64 = 0x100;
    pub(super) const WAKING: [u64; 4] = [WAKE, CMP_REQUEUE, WAKE_OP, WAKE_BITSET];

    pub(super) fn command(call: &Syscall) -> u64 {
        const CMD_MASK: u64 = 0x7f;
        call.args[1] & CMD_MASK
    }
}

/// A futex is a lock when its operation is one (the PI operations), when the word held 2, which is how glibc's low-level lock and
/// Rust's standard library mark a lock that has waiters, or when it held the owner's id.
fn futex_wait(call: &Syscall) -> Wait {
    use futex::{LOCK_PI, LOCK_PI2, WAIT, WAIT_BITSET};
    const LOCKED_WITH_WAITERS: u64 = 2;
    match futex::command(call) {
        LOCK_PI | LOCK_PI2 => Wait::Lock { owner: None },
        WAIT | WAIT_BITSET if call.args[2] as u32 as u64 == LOCKED_WITH_WAITERS => Wait::Lock { owner: None },
        WAIT | WAIT_BITSET => match owner_in(call.args[2] as u32) {
            Some(owner) => Wait::Lock { owner: Some(owner) },
            None => Wait::Semaphore { owner: None },
        },
        _ => Wait::Input,
    }
}

/// The owner of a lock that has waiters, by the value of its word: FUTEX_WAITERS with the id of the owner, as the kernel wants it of
/// robust locks, which it gives back when their owner ends (`exit_robust_list()`, `kernel/futex/core.c`).
fn owner_in(value: u32) -> Option<Tid> {
    const FUTEX_WAITERS: u32 = 0x8000_0000;
    /// As large as an id may be (`PID_MAX_LIMIT`).
    const MOST: u32 = 1 << 22;
    let id = value.checked_sub(FUTEX_WAITERS)?;
    (1..MOST).contains(&id).then_some(Tid(id as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn futex(op: u64, val: u64) -> Syscall {
        Syscall { nr: 202, args: [0x7f00, op, val, 0, 0, 0] }
    }

    #[test]
    fn a_futex_is_a_lock_or_a_condition() {
        let lock = Wait::Lock { owner: None };
        for (op, val, wait) in [
            (0x80, 2, lock),
            (0x86, 0, lock),
            (13, 0, lock),
            (0x89, 2, lock),
            (0x189, 0, Wait::Semaphore { owner: None }),
            (0x81, 1, Wait::Input),
            (0, 0x8000_0130, Wait::Lock { owner: Some(Tid(0x130)) }),
            (0x189, 0xffff_ffff_8000_0130, Wait::Lock { owner: Some(Tid(0x130)) }),
            (0, 0x8000_0000, Wait::Semaphore { owner: None }),
            (0, 0xc000_0130, Wait::Semaphore { owner: None }),
            (0x80, 4, Wait::Semaphore { owner: None }),
        ] {
            assert_eq!(X86_64.wait(&futex(op, val), TaskState::Interruptible), wait, "op {op:#x} val {val}");
        }
    }

    #[test]
    fn a_lock_of_a_file_is_a_lock() {
        let lock = Wait::Lock { owner: None };
        let ordinary = Wait::Unsure;
        for (table, nr, command, wait) in [
            (&X86_64, 73, 2, lock),
            (&X86_64, 72, 7, lock),
            (&X86_64, 72, 38, lock),
            (&X86_64, 72, 6, ordinary),
            (&I386, 143, 2, lock),
            (&I386, 221, 14, lock),
            (&ARM64, 32, 2, lock),
            (&ARM64, 25, 7, lock),
            (&ARM64, 73, 7, Wait::Input),
        ] {
            let call = Syscall { nr, args: [3, command, 0, 0, 0, 0] };
            assert_eq!(table.wait(&call, TaskState::Interruptible), wait, "{nr} {command}");
        }
    }

    #[test]
    fn a_system_v_semaphore_is_a_semaphore() {
        for (table, nr) in [(&X86_64, 65), (&X86_64, 220), (&I386, 420), (&ARM64, 193), (&ARM, 298)] {
            let call = Syscall { nr, args: [3, 0, 1, 0, 0, 0] };
            assert_eq!(table.wait(&call, TaskState::Interruptible), Wait::Semaphore { owner: None }, "{nr}");
            assert!(table.posts(&call));
        }
    }

    #[test]
    fn a_wait_for_several_futexes_is_one_for_a_futex() {
        let call = Syscall { nr: FUTEX_WAITV, args: [0x7ffe_0000, 2, 0, 0, 0, 0] };
        for table in [&X86_64, &I386, &ARM64, &ARM] {
            assert_eq!(table.wait(&call, TaskState::Interruptible), Wait::Semaphore { owner: None });
            assert!(!table.shows_32_bit(&call));
        }
    }

    #[test]
    fn sleeps_are_told_apart_by_their_calls() {
        let call = |nr, flags| Syscall { nr, args: [1, flags, 0, 0, 0, 0] };
        assert_eq!(X86_64.sleeps_relative(&call(230, 1)), Some(false));
        assert_eq!(X86_64.sleeps_relative(&call(230, 0)), Some(true));
        assert_eq!(X86_64.sleeps_relative(&call(35, 0)), Some(true));
        assert_eq!(X86_64.sleeps_relative(&call(0, 0)), None);
        assert!(SyscallTable::of(Some("s390x")).is_none());
    }

    #[test]
    fn an_interruptible_sleep_tells_a_32_bit_program() {
        let call = |nr| Syscall { nr, args: [1, 1, 0, 0, 0, 0] };
        let arm64 = SyscallTable::of(Some("aarch64")).expect("a table");
        // clock_nanosleep and futex of ARM; clock_nanosleep, futex and read of arm64; read of ARM.
        for (nr, shows) in
            [(265, true), (407, true), (240, true), (115, false), (98, false), (63, false), (3, false)]
        {
            assert_eq!(arm64.shows_32_bit(&call(nr)), shows, "{nr}");
        }
        let arm = arm64.for_abi(Abi::Of32Bit);
        assert_eq!(arm.sleeps_relative(&call(265)), Some(false));
        assert_eq!(arm.wait(&call(3), TaskState::Interruptible), Wait::Input);
        assert!(
            X86_64.shows_32_bit(&call(267))
                && !I386.shows_32_bit(&call(267))
                && !X86_64.shows_32_bit(&call(202))
        );
        let riscv = SyscallTable::of(Some("riscv64")).expect("a table");
        assert!(!riscv.shows_32_bit(&call(265)));
    }

    #[test]
    fn a_setting_is_for_its_caller_or_another() {
        let call = |nr, target, policy| Syscall { nr, args: [target, policy, 0, 0, 0, 0] };
        let priority = |call, policy| Setting::Priority { call, policy, resets_on_fork: false };
        let resets = |call, policy| Setting::Priority { call, policy, resets_on_fork: true };
        for (call, expected) in [
            (call(144, 0, 1), Some((priority("sched_setscheduler", Some(Policy::Fifo)), Tid(7)))),
            (call(144, 9, 0x4000_0002), Some((resets("sched_setscheduler", Some(Policy::Rr)), Tid(9)))),
            (call(314, 7, 0), Some((priority("sched_setattr", None), Tid(7)))),
            (call(142, 0, 0), Some((priority("sched_setparam", None), Tid(7)))),
            (call(203, 9, 8), Some((Setting::Affinity, Tid(9)))),
            (call(0, 0, 0), None),
        ] {
            assert_eq!(X86_64.setting(&call, Tid(7)), expected, "{call:?}");
        }
    }
}
