//! What programs do: system calls, page faults, locks, signals, lines to `trace_marker`.

use crate::Case;
use crate::common::Value::{Int, Longs, Text};
use whylate_base::Tid;
use whylate_events::{ContentionFlags, EventKind, PageFault, Signal, Syscall, SyscallReturn};

pub(super) fn cases() -> Vec<Case> {
    vec![
        (
            "raw_syscalls",
            "sys_enter",
            &["long id", "unsigned long args[6]"],
            &[("id", Int(230)), ("args", Longs(&[1, 2, 3, 4, 5, 0xffff_fff6]))],
            EventKind::SyscallEnter(Syscall { nr: 230, args: [1, 2, 3, 4, 5, 0xffff_fff6] }),
        ),
        (
            "raw_syscalls",
            "sys_exit",
            &["long id", "long ret"],
            &[("id", Int(230)), ("ret", Int(-11))],
            EventKind::SyscallExit(SyscallReturn { nr: 230, ret: -11 }),
        ),
        (
            "syscalls",
            "sys_enter_write",
            &[
                "int __syscall_nr",
                "unsigned int fd",
                "const char * buf",
                "size_t count",
                "__data_loc char[] __buf_val",
            ],
            &[
                ("__syscall_nr", Int(1)),
                ("fd", Int(2)),
                ("buf", Int(3)),
                ("count", Int(4)),
                ("__buf_val", Text("hi")),
            ],
            EventKind::SyscallEnter(Syscall { nr: 1, args: [2, 3, 4, 0, 0, 0] }),
        ),
        (
            "syscalls",
            "sys_exit_write",
            &["int nr", "long ret"],
            &[("nr", Int(1)), ("ret", Int(-4))],
            EventKind::SyscallExit(SyscallReturn { nr: 1, ret: -4 }),
        ),
        (
            "exceptions",
            "page_fault_user",
            &["unsigned long address", "unsigned long ip", "unsigned long error_code"],
            &[("address", Int(0x1000)), ("ip", Int(0x2000))],
            EventKind::PageFault(PageFault { address: 0x1000, ip: 0x2000, user: true, error_code: 0 }),
        ),
        (
            "exceptions",
            "page_fault_kernel",
            &["unsigned long address", "unsigned long ip", "unsigned long error_code"],
            &[("address", Int(0x1000)), ("ip", Int(0x2000)), ("error_code", Int(3))],
            EventKind::PageFault(PageFault { address: 0x1000, ip: 0x2000, user: false, error_code: 3 }),
        ),
        (
            "whylate",
            "page_fault",
            &["unsigned long __probe_ip", "u64 address", "u32 flags", "u64 regs", "u64 ip"],
            &[("address", Int(0x1000)), ("flags", Int(0x255)), ("regs", Int(0x3000)), ("ip", Int(0x2000))],
            EventKind::PageFault(PageFault { address: 0x1000, ip: 0x2000, user: true, error_code: 2 }),
        ),
        (
            "whylate",
            "page_fault",
            &["unsigned long __probe_ip", "u64 address", "u32 flags", "u64 regs"],
            &[("address", Int(0x1000)), ("flags", Int(0x214)), ("regs", Int(0x3000))],
            EventKind::PageFault(PageFault { address: 0x1000, ip: 0, user: false, error_code: 0 }),
        ),
        (
            "lock",
            "contention_begin",
            &["void * lock_addr", "unsigned int flags"],
            &[("lock_addr", Int(0x3000)), ("flags", Int(0x20))],
            EventKind::ContentionBegin { lock: 0x3000, flags: ContentionFlags(ContentionFlags::MUTEX) },
        ),
        (
            "lock",
            "contention_end",
            &["void * lock_addr", "int ret"],
            &[("lock_addr", Int(0x3000)), ("ret", Int(-4))],
            EventKind::ContentionEnd { lock: 0x3000, ret: -4 },
        ),
        (
            "signal",
            "signal_generate",
            &["int sig", "int errno", "int code", "char comm[16]", "pid_t pid", "int group", "int result"],
            &[("sig", Int(24)), ("code", Int(128)), ("comm", Text("ctrl")), ("pid", Int(17))],
            EventKind::Signal(Signal {
                sig: Signal::SIGXCPU,
                code: Signal::SI_KERNEL,
                tid: Tid(17),
                comm: "ctrl".into(),
            }),
        ),
        (
            "ftrace",
            "print",
            &["unsigned long ip", "char buf[]"],
            &[("buf", Text("a line\n"))],
            EventKind::Marker("a line".into()),
        ),
    ]
}
