//! The numbers of the calls, by architecture.

use syscalls::{aarch64, arm, x86, x86_64};

/// System call numbers of one ABI, as far as the ledger reads them. Those of a call that exists with 32-bit and with
/// 64-bit times are both given; where it exists once, twice the same.
#[derive(Debug)]
pub(crate) struct SyscallTable {
    pub(super) futex: [i64; 2],
    pub(super) futex_wait: i64,
    pub(super) nanosleep: i64,
    pub(super) clock_nanosleep: [i64; 2],
    pub(super) adjtimex: i64,
    pub(super) clock_adjtime: [i64; 2],
    pub(super) sched_setparam: i64,
    pub(super) sched_setscheduler: i64,
    pub(super) sched_setattr: i64,
    pub(super) sched_setaffinity: i64,
    pub(super) sched_yield: i64,
    /// Locks of files.
    pub(super) flock: i64,
    pub(super) fcntl: [i64; 2],
    /// exit, exit_group.
    pub(super) exit: [i64; 2],
    pub(super) vfork: Option<i64>,
    pub(super) clone: i64,
    pub(super) clone3: i64,
    /// semop, semtimedop.
    pub(super) semaphores: &'static [i64],
    /// io_getevents, io_pgetevents.
    pub(super) requests: &'static [i64],
    /// Calls that wait for the next period or for input, beyond the sleeps.
    pub(super) waits: &'static [i64],
    /// accept, accept4.
    pub(super) accepts: &'static [i64],
    /// wait4, waitid and their like: until a child ends.
    pub(super) children: &'static [i64],
    /// mq_timedsend, msgsnd: until there is room in a queue of messages.
    pub(super) queues: &'static [i64],
    /// Calls on files and directories by name, and fsync: they sleep interruptibly only where another program serves them
    /// (FUSE), or a network.
    pub(super) files: &'static [i64],
    /// write, writev; sendto, sendmsg, sendmmsg and connect, which sleeps until the other side has taken it; kill, tkill, tgkill, rt_sigqueueinfo.
    pub(super) writes: &'static [i64],
    pub(super) sends: &'static [i64],
    /// pwrite64, pwritev, pwritev2; fsync, fdatasync, sync_file_range, msync, sync, syncfs.
    pub(super) stores: &'static [i64],
    pub(super) signals: &'static [i64],
    /// sigreturn and rt_sigreturn: a handler of a signal returns.
    pub(super) sigreturn: [i64; 2],
    pub(super) mlockall: i64,
    pub(super) mmap: i64,
    pub(super) names: fn(i64) -> Option<&'static str>,
    /// The numbers of this kernel's 32-bit programs.
    pub(super) of_32_bit: Option<&'static SyscallTable>,
}

/// `arch/x86/entry/syscalls/syscall_64.tbl`
pub(super) static X86_64: SyscallTable = SyscallTable {
    futex: [202, 202],
    futex_wait: 455,
    nanosleep: 35,
    clock_nanosleep: [230, 230],
    adjtimex: 159,
    clock_adjtime: [305, 305],
    sched_setparam: 142,
    sched_setscheduler: 144,
    sched_setattr: 314,
    sched_setaffinity: 203,
    sched_yield: 24,
    flock: 73,
    fcntl: [72, 72],
    exit: [60, 231],
    vfork: Some(58),
    clone: 56,
    clone3: 435,
    semaphores: &[65, 220],
    requests: &[208, 333],
    // read, poll, select, pause, recvfrom, recvmsg, accept, msgrcv, wait4, rt_sigsuspend,
    // rt_sigtimedwait, epoll_wait, mq_timedreceive, waitid, pselect6, ppoll, epoll_pwait, accept4,
    // recvmmsg, io_uring_enter, epoll_pwait2, readv, preadv
    waits: &[
        0, 7, 23, 34, 45, 47, 43, 70, 61, 130, 128, 232, 243, 247, 270, 271, 281, 288, 299, 426, 441, 19, 295,
    ],
    accepts: &[43, 288],
    children: &[61, 247],
    queues: &[242, 69],
    // open, close, stat, fstat, lstat, access, fsync, fdatasync, truncate, ftruncate, getdents, chdir, rename, mkdir, rmdir,
    // creat, link, unlink, symlink, readlink, chmod, getdents64, openat, mkdirat, newfstatat, unlinkat, renameat,
    // readlinkat, faccessat, renameat2, statx, openat2, faccessat2
    files: &[
        2, 3, 4, 5, 6, 21, 74, 75, 76, 77, 78, 80, 82, 83, 84, 85, 86, 87, 88, 89, 90, 217, 257, 258, 262,
        263, 264, 267, 269, 316, 332, 437, 439,
    ],
    writes: &[1, 20],
    sends: &[44, 46, 307, 42],
    stores: &[18, 296, 328, 74, 75, 277, 26, 162, 306],
    signals: &[62, 200, 234, 129],
    sigreturn: [15, 15],
    mlockall: 151,
    mmap: 9,
    names: |nr| Some(x86_64::Sysno::new(usize::try_from(nr).ok()?)?.name()),
    of_32_bit: Some(&I386),
};

/// `arch/x86/entry/syscalls/syscall_32.tbl`
pub(super) static I386: SyscallTable = SyscallTable {
    futex: [240, 422],
    futex_wait: 455,
    nanosleep: 162,
    clock_nanosleep: [267, 407],
    adjtimex: 124,
    clock_adjtime: [343, 405],
    sched_setparam: 154,
    sched_setscheduler: 156,
    sched_setattr: 351,
    sched_setaffinity: 241,
    sched_yield: 158,
    flock: 143,
    fcntl: [55, 221],
    exit: [1, 252],
    vfork: Some(190),
    clone: 120,
    clone3: 435,
    // An older program asks by ipc, for messages and shared memory as well.
    semaphores: &[420],
    requests: &[247, 385, 416],
    // read, waitpid, pause, select, socketcall, wait4, ipc, _newselect, readv, poll, rt_sigtimedwait, rt_sigsuspend,
    // epoll_wait, mq_timedreceive, waitid, pselect6, ppoll, epoll_pwait, preadv, recvmmsg, accept4,
    // recvfrom, recvmsg, then those with 64-bit times, io_uring_enter, epoll_pwait2
    waits: &[
        3, 7, 29, 82, 102, 114, 117, 142, 145, 168, 177, 179, 256, 280, 284, 308, 309, 319, 333, 337, 364,
        371, 372, 413, 414, 417, 419, 421, 426, 441,
    ],
    accepts: &[364],
    children: &[7, 114, 284],
    queues: &[279, 418, 400],
    // open, close, creat, link, unlink, chdir, chmod, access, rename, mkdir, rmdir, symlink, readlink, truncate, ftruncate,
    // fsync, fdatasync, stat64, lstat64, fstat64, getdents64, openat, mkdirat, fstatat64, unlinkat, renameat,
    // readlinkat, faccessat, renameat2, statx, openat2, faccessat2
    files: &[
        5, 6, 8, 9, 10, 12, 15, 33, 38, 39, 40, 83, 85, 92, 93, 118, 148, 195, 196, 197, 220, 295, 296, 300,
        301, 302, 305, 307, 353, 383, 437, 439,
    ],
    writes: &[4, 146],
    sends: &[102, 345, 369, 370, 362],
    stores: &[181, 334, 379, 118, 148, 314, 144, 36, 344],
    signals: &[37, 238, 270, 178],
    sigreturn: [119, 173],
    mlockall: 152,
    mmap: 192,
    names: |nr| Some(x86::Sysno::new(usize::try_from(nr).ok()?)?.name()),
    of_32_bit: None,
};

/// `scripts/syscall.tbl`: riscv64, loongarch64, and arm64 but for its 32-bit programs.
pub(super) static GENERIC: SyscallTable = SyscallTable {
    futex: [98, 98],
    futex_wait: 455,
    nanosleep: 101,
    clock_nanosleep: [115, 115],
    adjtimex: 171,
    clock_adjtime: [266, 266],
    sched_setparam: 118,
    sched_setscheduler: 119,
    sched_setattr: 274,
    sched_setaffinity: 122,
    sched_yield: 124,
    flock: 32,
    fcntl: [25, 25],
    exit: [93, 94],
    vfork: None,
    clone: 220,
    clone3: 435,
    semaphores: &[193, 192],
    requests: &[4, 292],
    // read, readv, preadv, pselect6, ppoll, epoll_pwait, rt_sigsuspend, rt_sigtimedwait, msgrcv,
    // mq_timedreceive, accept, recvfrom, recvmsg, accept4, recvmmsg, wait4, waitid,
    // io_uring_enter, epoll_pwait2
    waits: &[63, 65, 69, 72, 73, 22, 133, 137, 188, 183, 202, 207, 212, 242, 243, 260, 95, 426, 441],
    accepts: &[202, 242],
    children: &[260, 95],
    queues: &[182, 189],
    // mkdirat, unlinkat, renameat, truncate, ftruncate, faccessat, chdir, openat, close, getdents64, readlinkat, newfstatat,
    // fstat, fsync, fdatasync, renameat2, statx, openat2, faccessat2
    files: &[34, 35, 38, 45, 46, 48, 49, 56, 57, 61, 78, 79, 80, 82, 83, 276, 291, 437, 439],
    writes: &[64, 66],
    sends: &[206, 211, 269, 203],
    stores: &[68, 70, 287, 82, 83, 84, 227, 81, 267],
    signals: &[129, 130, 131, 138],
    sigreturn: [139, 139],
    mlockall: 230,
    mmap: 222,
    names: |nr| Some(aarch64::Sysno::new(usize::try_from(nr).ok()?)?.name()),
    of_32_bit: None,
};

/// The same, with `arch/arm/tools/syscall.tbl` beside it.
pub(super) static ARM64: SyscallTable = SyscallTable { of_32_bit: Some(&ARM), ..GENERIC };

/// `arch/arm/tools/syscall.tbl`
pub(super) static ARM: SyscallTable = SyscallTable {
    futex: [240, 422],
    futex_wait: 455,
    nanosleep: 162,
    clock_nanosleep: [265, 407],
    adjtimex: 124,
    clock_adjtime: [372, 405],
    sched_setparam: 154,
    sched_setscheduler: 156,
    sched_setattr: 380,
    sched_setaffinity: 241,
    sched_yield: 158,
    flock: 143,
    fcntl: [55, 221],
    exit: [1, 248],
    vfork: Some(190),
    clone: 120,
    clone3: 435,
    semaphores: &[298, 312, 420],
    requests: &[245, 399, 416],
    // read, pause, wait4, _newselect, readv, poll, rt_sigtimedwait, rt_sigsuspend, epoll_wait,
    // mq_timedreceive, waitid, accept, recv, recvfrom, recvmsg, msgrcv, pselect6, ppoll,
    // epoll_pwait, preadv, recvmmsg, accept4, then those with 64-bit times, io_uring_enter, epoll_pwait2
    waits: &[
        3, 29, 114, 142, 145, 168, 177, 179, 252, 277, 280, 285, 291, 292, 297, 302, 335, 336, 346, 361, 365,
        366, 413, 414, 417, 419, 421, 426, 441,
    ],
    accepts: &[285, 366],
    children: &[114, 280],
    queues: &[276, 418, 301],
    // As of I386, and those that have other numbers here: getdents64, openat, mkdirat, fstatat64, unlinkat, renameat,
    // readlinkat, faccessat, renameat2, statx
    files: &[
        5, 6, 8, 9, 10, 12, 15, 33, 38, 39, 40, 83, 85, 92, 93, 118, 148, 195, 196, 197, 217, 322, 323, 327,
        328, 329, 332, 334, 382, 397, 437, 439,
    ],
    writes: &[4, 146],
    sends: &[289, 290, 296, 374, 283],
    stores: &[181, 362, 393, 118, 148, 341, 144, 36, 373],
    signals: &[37, 238, 268, 178],
    sigreturn: [119, 173],
    mlockall: 152,
    mmap: 192,
    names: |nr| Some(arm::Sysno::new(usize::try_from(nr).ok()?)?.name()),
    of_32_bit: None,
};
