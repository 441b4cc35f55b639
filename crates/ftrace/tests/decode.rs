//! Format files and records to typed events, on every kind of machine.

mod common;

use common::{Machine, Value};
use std::sync::Arc;
use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{
    ContentionFlags, EventKind, HrtimerExpiry, HrtimerStart, Kind, PageFault, Signal, Syscall, SyscallReturn,
    Wake,
};
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::format::{EventFormat, EventFormats};
use whylate_ftrace::symbols::{SymbolCache, Symbols};

const SYMBOLS: &[u8] = b"c0000100 T hrtimer_wakeup\nc0000200 t process_timeout\n";

type Fields<'v> = &'v [(&'v str, Value<'v>)];

/// Decodes a made-up record on all machines; the result must be the same on each.
fn decode(system: &str, name: &str, declarations: &[&str], values: Fields<'_>) -> (Option<Kind>, EventKind) {
    let mut results = Machine::ALL.iter().map(|&machine| {
        let text = machine.format(name, 77, declarations, "\"\"");
        let format = EventFormat::parse(system, &text).expect("a format");
        let record = machine.record(&format, values);
        let mut formats = EventFormats::default();
        formats.insert(format);
        let decoders = Decoders::new(&formats, machine.endian);
        let mut names = SymbolCache::new(Arc::new(Symbols::parse(SYMBOLS.to_vec())));
        let id = decoders.id(&record).expect("an id");
        assert_eq!(id, 77);
        for length in 0..record.len() {
            // Too short for its fields, or an `Other`, or a string that lies outside: never a panic.
            let _ = decoders.decode(id, &record[..length], &mut names);
        }
        let kind = decoders.decode(id, &record, &mut names).expect("long enough");
        (decoders.kind(id), kind)
    });
    let first = results.next().expect("a machine");
    for other in results {
        assert_eq!(other, first, "{name}");
    }
    first
}

use Value::{Int, Longs, Text};

#[test]
fn every_event_with_a_type() {
    let wake = Wake { comm: "victim".into(), tid: Tid(42), prio: Priority(49), target_cpu: Cpu(3) };
    let wake_fields = ["char comm[16]", "pid_t pid", "int prio", "int target_cpu"];
    let wake_values: Fields<'_> =
        &[("comm", Text("victim")), ("pid", Int(42)), ("prio", Int(49)), ("target_cpu", Int(3))];
    let cases: Vec<(&str, &str, &[&str], Fields<'_>, EventKind)> = vec![
        ("sched", "sched_waking", &wake_fields, wake_values, EventKind::Waking(wake)),
        ("sched", "sched_wakeup", &wake_fields, wake_values, EventKind::Wakeup { wake, new: false }),
        ("sched", "sched_wakeup_new", &wake_fields, wake_values, EventKind::Wakeup { wake, new: true }),
        (
            "sched",
            "sched_migrate_task",
            &["char comm[16]", "pid_t pid", "int prio", "int orig_cpu", "int dest_cpu"],
            &[("pid", Int(42)), ("orig_cpu", Int(1)), ("dest_cpu", Int(2))],
            EventKind::Migrate { tid: Tid(42), from: Cpu(1), to: Cpu(2) },
        ),
        (
            "sched",
            "sched_process_fork",
            &["char parent_comm[16]", "pid_t parent_pid", "char child_comm[16]", "pid_t child_pid"],
            &[("parent_pid", Int(1)), ("child_comm", Text("kid")), ("child_pid", Int(2))],
            EventKind::Fork { parent: Tid(1), child: Tid(2), comm: "kid".into() },
        ),
        (
            "sched",
            "sched_process_fork",
            &[
                "__data_loc char[] parent_comm",
                "pid_t parent_pid",
                "__data_loc char[] child_comm",
                "pid_t child_pid",
            ],
            &[("parent_pid", Int(1)), ("child_comm", Text("kid")), ("child_pid", Int(2))],
            EventKind::Fork { parent: Tid(1), child: Tid(2), comm: "kid".into() },
        ),
        (
            "sched",
            "sched_process_exec",
            &["__data_loc char[] filename", "pid_t pid", "pid_t old_pid"],
            &[("filename", Text("/bin/true")), ("pid", Int(8)), ("old_pid", Int(9))],
            EventKind::Exec { old: Tid(9), tid: Tid(8) },
        ),
        (
            "sched",
            "sched_process_exit",
            &["char comm[16]", "pid_t pid", "int prio"],
            &[("pid", Int(8))],
            EventKind::Exit { tid: Tid(8) },
        ),
        (
            "sched",
            "sched_pi_setprio",
            &["char comm[16]", "pid_t pid", "int oldprio", "int newprio"],
            &[("pid", Int(8)), ("oldprio", Int(120)), ("newprio", Int(-1))],
            EventKind::PiSetprio { tid: Tid(8), old: Priority(120), new: Priority(-1) },
        ),
        (
            "irq",
            "irq_handler_entry",
            &["int irq", "__data_loc char[] name"],
            &[("irq", Int(19)), ("name", Text("enp0s3"))],
            EventKind::IrqEntry { irq: 19, name: "enp0s3".into() },
        ),
        (
            "irq",
            "irq_handler_entry",
            &["int irq", "__rel_loc char[] name"],
            &[("irq", Int(19)), ("name", Text("enp0s3"))],
            EventKind::IrqEntry { irq: 19, name: "enp0s3".into() },
        ),
        (
            "irq",
            "irq_handler_exit",
            &["int irq", "int ret"],
            &[("irq", Int(19))],
            EventKind::IrqExit { irq: 19 },
        ),
        (
            "irq",
            "softirq_raise",
            &["unsigned int vec"],
            &[("vec", Int(3))],
            EventKind::SoftirqRaise { vec: 3 },
        ),
        (
            "irq",
            "softirq_entry",
            &["unsigned int vec"],
            &[("vec", Int(3))],
            EventKind::SoftirqEntry { vec: 3 },
        ),
        ("irq", "softirq_exit", &["unsigned int vec"], &[("vec", Int(3))], EventKind::SoftirqExit { vec: 3 }),
        (
            "irq_vectors",
            "local_timer_entry",
            &["int vector"],
            &[("vector", Int(236))],
            EventKind::VectorEntry { name: "local_timer".into() },
        ),
        (
            "irq_vectors",
            "call_function_single_exit",
            &["int vector"],
            &[],
            EventKind::VectorExit { name: "call_function_single".into() },
        ),
        (
            "timer",
            "hrtimer_start",
            &["void * hrtimer", "void * function", "s64 expires", "s64 softexpires", "int mode"],
            &[
                ("hrtimer", Int(0xc100_2000)),
                ("function", Int(0xc000_0100)),
                ("expires", Int(1 << 40)),
                ("softexpires", Int(-5)),
            ],
            EventKind::HrtimerStart(HrtimerStart {
                hrtimer: 0xc100_2000,
                function: "hrtimer_wakeup".into(),
                expires: Ns(1 << 40),
                softexpires: Ns(-5),
            }),
        ),
        (
            "timer",
            "hrtimer_cancel",
            &["void * hrtimer"],
            &[("hrtimer", Int(6))],
            EventKind::HrtimerCancel { hrtimer: 6 },
        ),
        (
            "timer",
            "hrtimer_expire_entry",
            &["void * hrtimer", "s64 now", "void * function"],
            &[("hrtimer", Int(6)), ("now", Int(1 << 50)), ("function", Int(0xc000_0204))],
            EventKind::HrtimerExpire(HrtimerExpiry {
                hrtimer: 6,
                function: "process_timeout".into(),
                now: Ns(1 << 50),
            }),
        ),
        (
            "timer",
            "hrtimer_expire_exit",
            &["void * hrtimer"],
            &[("hrtimer", Int(6))],
            EventKind::HrtimerExpireExit { hrtimer: 6 },
        ),
        (
            "timer",
            "timer_expire_entry",
            &["void * timer", "unsigned long now", "void * function"],
            &[("timer", Int(6)), ("function", Int(0xc000_0210))],
            EventKind::TimerExpire { timer: 6, function: "process_timeout".into() },
        ),
        (
            "timer",
            "timer_expire_exit",
            &["void * timer"],
            &[("timer", Int(6))],
            EventKind::TimerExpireExit { timer: 6 },
        ),
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
            EventKind::PageFault(PageFault { address: 0x1000, ip: 0x2000, user: true }),
        ),
        (
            "exceptions",
            "page_fault_kernel",
            &["unsigned long address", "unsigned long ip", "unsigned long error_code"],
            &[("address", Int(0x1000)), ("ip", Int(0x2000))],
            EventKind::PageFault(PageFault { address: 0x1000, ip: 0x2000, user: false }),
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
            "power",
            "cpu_idle",
            &["u32 state", "u32 cpu_id"],
            &[("state", Int(2))],
            EventKind::CpuIdle { state: Some(2) },
        ),
        (
            "power",
            "cpu_idle",
            &["u32 state", "u32 cpu_id"],
            &[("state", Int(0xffff_ffff))],
            EventKind::CpuIdle { state: None },
        ),
        (
            "nmi",
            "nmi_handler",
            &["void * handler", "s64 delta_ns", "int handled"],
            &[("delta_ns", Int(1234))],
            EventKind::Nmi { delta: Ns(1234) },
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
        (
            "ftrace",
            "function",
            &["unsigned long ip", "unsigned long parent_ip"],
            &[("ip", Int(0xc000_0100))],
            EventKind::Function { name: "hrtimer_wakeup".into() },
        ),
    ];
    for (system, name, declarations, values, expected) in cases {
        let (kind, event) = decode(system, name, declarations, values);
        assert_eq!(event, expected, "{name}");
        assert_eq!(kind, Some(expected.kind()), "{name}");
    }
}

#[test]
fn what_has_no_type_or_lacks_a_field_is_other() {
    for (system, name, declarations) in [
        ("net", "netif_rx", &["int len"][..]),
        ("sched", "sched_waking", &["pid_t pid"]),
        ("mine", "sched_process_exit", &["pid_t pid"]),
        ("irq_vectors", "vector_alloc", &["int irq"]),
        ("ftrace", "bprint", &["unsigned long ip", "char buf[]"]),
    ] {
        assert_eq!(decode(system, name, declarations, &[]), (Some(Kind::Other), EventKind::Other), "{name}");
    }
}

#[test]
fn an_unknown_id_has_no_kind() {
    let decoders = Decoders::new(&EventFormats::default(), whylate_ftrace::bytes::Endian::Little);
    assert_eq!(decoders.id(&[7, 1]), Some(0x107));
    assert_eq!((decoders.id(&[7]), decoders.kind(0x107)), (None, None));
}
