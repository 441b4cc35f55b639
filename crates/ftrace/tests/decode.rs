//! Format files and records to typed events, on every kind of machine.

mod common;

use common::{Machine, Value};
use std::sync::Arc;
use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{
    BlockedReason, ContentionFlags, CpuCall, EventKind, HrtimerExpiry, HrtimerStart, Kind, Kvm,
    KvmExitReason, Noise, NoiseSource, OsnoiseSample, Packet, PacketStep, PageFault, Preemptirq, Signal,
    Syscall, SyscallReturn, Timerlat, TimerlatContext, Wake, Work, WorkStep,
};
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::format::{EventFormat, EventFormats};
use whylate_ftrace::symbols::{SymbolCache, Symbols};

const SYMBOLS: &[u8] = b"c0000000 T _stext\nc0000100 T hrtimer_wakeup\nc0000200 t process_timeout\n";

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
            "sched",
            "sched_blocked_reason",
            &["pid_t pid", "void *caller", "bool io_wait"],
            &[("pid", Int(8)), ("caller", Int(0)), ("io_wait", Int(1))],
            EventKind::BlockedReason(BlockedReason {
                tid: Tid(8),
                io_wait: true,
                caller: Default::default(),
            }),
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
            "preemptirq",
            "irq_disable",
            &["s32 caller_offs", "s32 parent_offs"],
            &[("caller_offs", Int(0x208)), ("parent_offs", Int(-0x10))],
            EventKind::Preemptirq {
                what: Preemptirq::Interrupts,
                disables: true,
                caller: "process_timeout".into(),
            },
        ),
        (
            "preemptirq",
            "preempt_enable",
            &["s32 caller_offs", "s32 parent_offs"],
            &[("caller_offs", Int(-0x10)), ("parent_offs", Int(0))],
            EventKind::Preemptirq { what: Preemptirq::Preemption, disables: false, caller: "".into() },
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
            "napi",
            "napi_poll",
            &["void * napi", "__data_loc char[] dev_name", "int work", "int budget"],
            &[("dev_name", Text("eth0")), ("work", Int(3)), ("budget", Int(64))],
            EventKind::NapiPoll { dev: "eth0".into(), work: 3, budget: 64 },
        ),
        (
            "net",
            "netif_receive_skb",
            &["void * skbaddr", "unsigned int len", "__data_loc char[] name"],
            &[("skbaddr", Int(0x1234)), ("len", Int(60)), ("name", Text("lo"))],
            EventKind::Packet(Packet { skb: 0x1234, len: 60, dev: "lo".into(), step: PacketStep::Received }),
        ),
        (
            "skb",
            "skb_copy_datagram_iovec",
            &["const void * skbaddr", "int len"],
            &[("skbaddr", Int(0x1234)), ("len", Int(60))],
            EventKind::Packet(Packet { skb: 0x1234, len: 60, dev: "".into(), step: PacketStep::Copied }),
        ),
        (
            "workqueue",
            "workqueue_execute_start",
            &["void * work", "void * function"],
            &[("work", Int(0x99)), ("function", Int(0xc000_0100))],
            EventKind::Work(Work { work: 0x99, function: "hrtimer_wakeup".into(), step: WorkStep::Started }),
        ),
        (
            "ipi",
            "ipi_send_cpu",
            &["unsigned int cpu", "void * callsite", "void * callback"],
            &[("cpu", Int(1)), ("callsite", Int(0xc000_0100))],
            EventKind::CpuCall(CpuCall::Sent { target: Cpu(1), from: "hrtimer_wakeup".into() }),
        ),
        (
            "power",
            "cpu_frequency",
            &["u32 state", "u32 cpu_id"],
            &[("state", Int(1_200_000)), ("cpu_id", Int(1))],
            EventKind::CpuFrequency { khz: 1_200_000, target: Cpu(1) },
        ),
        (
            "kvm",
            "kvm_entry",
            &["unsigned int vcpu_id", "unsigned long rip"],
            &[("vcpu_id", Int(1)), ("rip", Int(0x1234))],
            EventKind::Kvm(Kvm::Entry { vcpu: Some(1) }),
        ),
        (
            "kvm",
            "kvm_exit",
            &[
                "unsigned int exit_reason",
                "unsigned long guest_rip",
                "u32 isa",
                "u64 info1",
                "unsigned int vcpu_id",
            ],
            &[("exit_reason", Int(48)), ("isa", Int(1)), ("vcpu_id", Int(1))],
            EventKind::Kvm(Kvm::Exit { vcpu: Some(1), reason: KvmExitReason { isa: 1, code: 48 } }),
        ),
        (
            "kvm",
            "kvm_exit",
            &["int ret", "unsigned int esr_ec", "unsigned long vcpu_pc"],
            &[("ret", Int(2)), ("esr_ec", Int(1))],
            EventKind::Kvm(Kvm::Exit { vcpu: None, reason: KvmExitReason { isa: 3, code: 0x101 } }),
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
            &[("ip", Int(0xc000_0100)), ("parent_ip", Int(0xc000_0204))],
            EventKind::Function { name: "hrtimer_wakeup".into(), caller: "process_timeout".into() },
        ),
    ];
    for (system, name, declarations, values, expected) in cases {
        let (kind, event) = decode(system, name, declarations, values);
        assert_eq!(event, expected, "{name}");
        assert_eq!(kind, Some(expected.kind()), "{name}");
    }
}

/// Formats as in `kernel/trace/trace_entries.h` and `include/trace/events/osnoise.h`, of several versions.
#[test]
fn every_event_of_the_latency_tracers() {
    let sample = |context, latency| EventKind::Timerlat(Timerlat { seq: 7, context, latency: Ns(latency) });
    let noise = |source, name: &str, id| {
        let (start, duration) = (Ns(5_000_000_123), Ns(20_896));
        EventKind::Noise(Noise { source, name: name.into(), id, start, duration })
    };
    let with = |more: Vec<(&'static str, Value<'static>)>| {
        let mut values = vec![("start", Int(5_000_000_123)), ("duration", Int(20_896))];
        values.extend(more);
        values
    };
    let osnoise = EventKind::OsnoiseSample(OsnoiseSample {
        runtime: Ns(1_000_000_000),
        noise: Ns(190_000),
        max_sample: Ns(12_000),
        hw_count: 18,
        nmi_count: 1,
        irq_count: 1007,
        softirq_count: 19,
        thread_count: 2,
    });
    let summary = || {
        vec![
            ("runtime", Int(1_000_000)),
            ("noise", Int(190)),
            ("max_sample", Int(12)),
            ("hw_count", Int(18)),
            ("nmi_count", Int(1)),
            ("irq_count", Int(1007)),
            ("softirq_count", Int(19)),
            ("thread_count", Int(2)),
        ]
    };
    let timerlat = ["unsigned int seqnum", "int context", "u64 timer_latency"];
    type Case<'c> = (&'c str, &'c str, &'c [&'c str], Vec<(&'c str, Value<'c>)>, EventKind);
    let latency = |context, latency| {
        vec![("seqnum", Int(7)), ("context", Int(context)), ("timer_latency", Int(latency))]
    };
    let cases: Vec<Case<'_>> = vec![
        ("ftrace", "timerlat", &timerlat, latency(0, 932), sample(TimerlatContext::Irq, 932)),
        ("ftrace", "timerlat", &timerlat, latency(1, 1 << 33), sample(TimerlatContext::Thread, 1 << 33)),
        ("ftrace", "timerlat", &timerlat, latency(2, 0), sample(TimerlatContext::UserReturn, 0)),
        // A context that is not known yet.
        ("ftrace", "timerlat", &timerlat, latency(3, 0), EventKind::Other),
        (
            "osnoise",
            "timerlat_sample",
            &["u64 timer_latency", "unsigned int seqnum", "int context"],
            latency(0, 932),
            sample(TimerlatContext::Irq, 932),
        ),
        (
            "ftrace",
            "osnoise",
            &[
                "u64 noise",
                "u64 runtime",
                "u64 max_sample",
                "unsigned int hw_count",
                "unsigned int nmi_count",
                "unsigned int irq_count",
                "unsigned int softirq_count",
                "unsigned int thread_count",
            ],
            summary(),
            osnoise,
        ),
        (
            "osnoise",
            "osnoise_sample",
            &[
                "u64 runtime",
                "u64 noise",
                "u64 max_sample",
                "int hw_count",
                "int irq_count",
                "int nmi_count",
                "int softirq_count",
                "int thread_count",
            ],
            summary(),
            osnoise,
        ),
        (
            "osnoise",
            "irq_noise",
            &["u64 start", "u64 duration", "__data_loc char[] desc", "int vector"],
            with(vec![("desc", Text("local_timer")), ("vector", Int(236))]),
            noise(NoiseSource::Irq, "local_timer", 236),
        ),
        (
            "osnoise",
            "softirq_noise",
            &["u64 start", "u64 duration", "int vector"],
            with(vec![("vector", Int(9))]),
            noise(NoiseSource::Softirq, "RCU", 9),
        ),
        (
            "osnoise",
            "softirq_noise",
            &["u64 start", "u64 duration", "int vector"],
            with(vec![("vector", Int(10))]),
            noise(NoiseSource::Softirq, "", 10),
        ),
        (
            "osnoise",
            "thread_noise",
            &["char comm[16]", "u64 start", "u64 duration", "pid_t pid"],
            with(vec![("comm", Text("kworker/1:2")), ("pid", Int(4711))]),
            noise(NoiseSource::Thread, "kworker/1:2", 4711),
        ),
        (
            "osnoise",
            "nmi_noise",
            &["u64 start", "u64 duration"],
            with(vec![]),
            noise(NoiseSource::Nmi, "", 0),
        ),
        (
            "osnoise",
            "sample_threshold",
            &["u64 start", "u64 duration", "u64 interference"],
            with(vec![("interference", Int(5))]),
            EventKind::OsnoiseThreshold { start: Ns(5_000_000_123), duration: Ns(20_896), interferences: 5 },
        ),
        (
            "ftrace",
            "hwlat",
            &[
                "u64 duration",
                "u64 outer_duration",
                "u64 nmi_total_ts",
                "s64 tv_sec",
                "long tv_nsec",
                "unsigned int nmi_count",
                "unsigned int seqnum",
                "unsigned int count",
            ],
            vec![("duration", Int(84)), ("outer_duration", Int(124))],
            EventKind::Hwlat { inner: Ns(84_000), outer: Ns(124_000) },
        ),
    ];
    for (system, name, declarations, values, expected) in cases {
        let (kind, event) = decode(system, name, declarations, &values);
        assert_eq!(event, expected, "{name}");
        let of_slot = if expected == EventKind::Other { Kind::Timerlat } else { expected.kind() };
        assert_eq!(kind, Some(of_slot), "{name}");
    }
}

#[test]
fn calls_of_the_function_graph_tracer() {
    let entry = EventKind::FunctionEntry { name: "hrtimer_wakeup".into(), depth: 3 };
    let entries: [(&str, &[&str]); 4] = [
        ("funcgraph_entry", &["unsigned long func", "int depth"]),
        // 6.15 appends the arguments; later the depth is a long.
        ("funcgraph_entry", &["unsigned long func", "unsigned int depth", "unsigned long args[]"]),
        ("funcgraph_entry", &["unsigned long func", "unsigned long depth", "unsigned long args[]"]),
        ("fgraph_retaddr_entry", &["unsigned long func", "int depth", "unsigned long retaddr"]),
    ];
    for (name, declarations) in entries {
        let values = [("func", Int(0xc000_0100)), ("depth", Int(3))];
        assert_eq!(
            decode("ftrace", name, declarations, &values),
            (Some(Kind::FunctionGraph), entry),
            "{name}"
        );
    }
    let exits: [&[&str]; 3] = [
        // Until 6.13, with CONFIG_FUNCTION_GRAPH_RETVAL, and as it is in 6.14.
        &["unsigned long func", "int depth", "unsigned int overrun", "u64 calltime", "u64 rettime"],
        &[
            "unsigned long func",
            "unsigned long retval",
            "int depth",
            "unsigned int overrun",
            "u64 calltime",
            "u64 rettime",
        ],
        &["unsigned long func", "unsigned int depth", "unsigned int overrun", "u64 calltime", "u64 rettime"],
    ];
    for declarations in exits {
        // A clock that went back does not make a function shorter than nothing.
        for (call, ret, duration) in
            [(5 << 33, (5 << 33) + 1_454, 1_454), (9, 8, 0), (i64::MIN, i64::MAX, i64::MAX)]
        {
            let values = [
                ("func", Int(0xc000_0204)),
                ("depth", Int(2)),
                ("calltime", Int(call)),
                ("rettime", Int(ret)),
            ];
            let exit =
                EventKind::FunctionExit { name: "process_timeout".into(), depth: 2, duration: Ns(duration) };
            let decoded = decode("ftrace", "funcgraph_exit", declarations, &values);
            assert_eq!(decoded, (Some(Kind::FunctionGraph), exit));
        }
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
        ("ftrace", "funcgraph_exit", &["unsigned long func", "int depth"]),
        ("ftrace", "timerlat", &["unsigned int seqnum", "int context"]),
        ("osnoise", "no_such_noise", &["u64 start", "u64 duration", "u64 interference"]),
        ("osnoise", "irq_noise", &["u64 start", "u64 duration", "int vector"]),
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

/// The format has had room for eight callers, and has none since 6.3; before 3.2 there was no number of them.
#[test]
fn stacks_of_every_layout() {
    let (schedule, sleep, main) = (0xc000_0110, 0xc000_0204, 0xc000_0000);
    let all: Vec<u64> = [schedule, sleep, main, schedule, sleep, main, schedule, sleep, main].to_vec();
    let fixed = [schedule, sleep, u64::MAX, 0, 0, 0, 0, 0];
    for machine in Machine::ALL {
        let long = if machine.long == 8 { u64::MAX } else { u64::from(u32::MAX) };
        let fixed: Vec<u64> = fixed.iter().map(|address| address & long).collect();
        let cases = [
            (["int size", "unsigned long caller[]"].as_slice(), Some(9), all.as_slice(), 9),
            (["int size", "unsigned long caller[8]"].as_slice(), Some(3), &all[..8], 3),
            (["unsigned long caller[8]"].as_slice(), None, fixed.as_slice(), 2),
        ];
        for (declarations, size, callers, expected) in cases {
            let text = machine.format("kernel_stack", 4, declarations, "\"\"");
            let format = EventFormat::parse("ftrace", &text).expect("a format");
            let values = size.map(|size| ("size", Int(size))).into_iter().chain([("caller", Longs(callers))]);
            let record = machine.record(&format, &values.collect::<Vec<_>>());
            let mut formats = EventFormats::default();
            formats.insert(format);
            let decoders = Decoders::new(&formats, machine.endian);
            let mut names = SymbolCache::new(Arc::new(Symbols::parse(SYMBOLS.to_vec())));
            assert_eq!(decoders.kind(4), Some(Kind::Stack));
            for length in 0..record.len() {
                let _ = decoders.stack(4, &record[..length], &mut names);
            }
            let stack = decoders.stack(4, &record, &mut names);
            let stack: Vec<&str> = stack.iter().map(|name| name.as_str()).collect();
            let functions = ["hrtimer_wakeup", "process_timeout", "_stext"];
            let expected: Vec<&str> = functions.iter().cycle().take(expected).copied().collect();
            assert_eq!(stack, expected, "{declarations:?}");
        }
    }
}
