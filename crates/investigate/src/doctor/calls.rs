//! The system calls that the rules read, by number.

/// Declares the calls with their numbers on x86_64 and in the generic table; -1 where the architecture has none.
macro_rules! calls {
    ($($call:ident $name:literal $x86_64:literal $generic:literal,)+) => {
        /// A system call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum SystemCall {
            $(#[doc = concat!("`", $name, "`")] $call,)+
            /// Any other, by its number.
            Other(i64),
        }

        /// Each with its name and both numbers.
        const TABLE: &[(SystemCall, &str, i64, i64)] = &[$((SystemCall::$call, $name, $x86_64, $generic),)+];
    };
}

// `arch/x86/entry/syscalls/syscall_64.tbl`; `scripts/syscall.tbl`, which arm64 and riscv64 use.
calls! {
    Read "read" 0 63,
    Write "write" 1 64,
    Open "open" 2 -1,
    Close "close" 3 57,
    Poll "poll" 7 -1,
    Mmap "mmap" 9 222,
    Mprotect "mprotect" 10 226,
    Munmap "munmap" 11 215,
    Brk "brk" 12 214,
    Pwrite "pwrite64" 18 68,
    Writev "writev" 20 66,
    Select "select" 23 -1,
    SchedYield "sched_yield" 24 124,
    Mremap "mremap" 25 216,
    Msync "msync" 26 227,
    Madvise "madvise" 28 233,
    Dup2 "dup2" 33 -1,
    Pause "pause" 34 -1,
    Nanosleep "nanosleep" 35 101,
    RtSigreturn "rt_sigreturn" 15 139,
    Socket "socket" 41 198,
    Connect "connect" 42 203,
    Accept "accept" 43 202,
    SendTo "sendto" 44 206,
    RecvFrom "recvfrom" 45 207,
    SendMsg "sendmsg" 46 211,
    RecvMsg "recvmsg" 47 212,
    SetSockOpt "setsockopt" 54 208,
    Clone "clone" 56 220,
    Fork "fork" 57 -1,
    Vfork "vfork" 58 -1,
    Fcntl "fcntl" 72 25,
    Flock "flock" 73 32,
    Fsync "fsync" 74 82,
    Fdatasync "fdatasync" 75 83,
    Creat "creat" 85 -1,
    GetTimeOfDay "gettimeofday" 96 169,
    SchedSetParam "sched_setparam" 142 118,
    SchedSetScheduler "sched_setscheduler" 144 119,
    Mlock "mlock" 149 228,
    Munlock "munlock" 150 229,
    MlockAll "mlockall" 151 230,
    MunlockAll "munlockall" 152 231,
    Sync "sync" 162 81,
    RtSigtimedwait "rt_sigtimedwait" 128 137,
    RtSigsuspend "rt_sigsuspend" 130 133,
    Futex "futex" 202 98,
    SchedSetAffinity "sched_setaffinity" 203 122,
    TimerCreate "timer_create" 222 107,
    ClockGetTime "clock_gettime" 228 113,
    ClockNanosleep "clock_nanosleep" 230 115,
    ExitGroup "exit_group" 231 94,
    EpollWait "epoll_wait" 232 -1,
    MqTimedReceive "mq_timedreceive" 243 183,
    Openat "openat" 257 56,
    Pselect "pselect6" 270 72,
    Ppoll "ppoll" 271 73,
    SyncFileRange "sync_file_range" 277 84,
    EpollPwait "epoll_pwait" 281 22,
    TimerfdCreate "timerfd_create" 283 85,
    Pwritev "pwritev" 296 70,
    Syncfs "syncfs" 306 267,
    SendMmsg "sendmmsg" 307 269,
    SchedSetAttr "sched_setattr" 314 274,
    Mlock2 "mlock2" 325 284,
    Accept4 "accept4" 288 242,
    Dup3 "dup3" 292 24,
    Clone3 "clone3" 435 435,
    Openat2 "openat2" 437 437,
    EpollPwait2 "epoll_pwait2" 441 441,
}

impl SystemCall {
    /// The call of a number, on the architecture that this program is built for.
    pub(crate) fn of(number: i64) -> SystemCall {
        let found = TABLE.iter().find(|entry| native(entry) == number && number >= 0);
        found.map_or(SystemCall::Other(number), |entry| entry.0)
    }

    /// The name, as in `syscalls(2)`; of one that is not in the table `syscall N`.
    pub(crate) fn name(self) -> String {
        let found = TABLE.iter().find(|entry| entry.0 == self);
        found.map_or_else(
            || match self {
                SystemCall::Other(number) => format!("syscall {number}"),
                known => format!("{known:?}"),
            },
            |entry| entry.1.to_owned(),
        )
    }
}

/// Calls that ordinary programs make so often that a stack of each would cost much, and whose line no rule needs; and the
/// sleeps of a periodic thread, which have the stack with which it leaves the CPU in them.
const WITHOUT_STACK: [SystemCall; 8] = [
    SystemCall::Nanosleep,
    SystemCall::ClockNanosleep,
    SystemCall::Read,
    SystemCall::Close,
    SystemCall::Dup2,
    SystemCall::Dup3,
    SystemCall::RtSigreturn,
    SystemCall::ExitGroup,
];

/// The filter of `raw_syscalls:sys_enter` that selects the calls whose line a rule needs (`Documentation/trace/events.rst`).
pub(super) fn stack_filter() -> String {
    let numbers = TABLE.iter().filter(|entry| !WITHOUT_STACK.contains(&entry.0)).map(native);
    let terms: Vec<String> =
        numbers.filter(|&number| number >= 0).map(|number| format!("id == {number}")).collect();
    terms.join(" || ")
}

fn native(entry: &(SystemCall, &str, i64, i64)) -> i64 {
    if cfg!(target_arch = "x86_64") { entry.2 } else { entry.3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for column in
            [|entry: &(SystemCall, &str, i64, i64)| entry.2, |entry: &(SystemCall, &str, i64, i64)| entry.3]
        {
            let mut numbers: Vec<i64> = TABLE.iter().map(column).filter(|&number| number >= 0).collect();
            let all = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), all);
        }
        for &(call, name, ..) in TABLE {
            assert_eq!(call.name(), name);
            assert_eq!(TABLE.iter().filter(|entry| entry.1 == name).count(), 1, "{name}");
        }
        assert_eq!(SystemCall::of(-1), SystemCall::Other(-1));
        assert_eq!(SystemCall::of(9999).name(), "syscall 9999");
    }

    #[test]
    fn the_filter_fits_a_page() {
        let filter = stack_filter();
        assert!(filter.len() < 4096, "{} bytes", filter.len());
        assert!(!filter.contains("-1"), "{filter}");
    }
}
