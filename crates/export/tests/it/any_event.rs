//! Events of every kind, and sources of them.

use proptest::prelude::*;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{
    BlockedReason, ContentionFlags, Context, ContextFlags, CpuCall, Event, EventKind, HrtimerExpiry,
    HrtimerStart, Kvm, KvmExitReason, Marker, Name, Noise, NoiseSource, OsnoiseSample, Packet, PacketStep,
    PageFault, Signal, Switch, Symbol, Syscall, SyscallReturn, TaskState, Timerlat, TimerlatContext,
    TraceInfo, VecSource, Wake, Work, WorkStep,
};
use whylate_ledger::softirq_name;

/// A recording of these events.
pub(crate) fn source(events: Vec<Event>, release: Option<&str>) -> VecSource {
    let info = TraceInfo {
        format: "made here".to_owned(),
        cpus: 4,
        clock: Some("mono".to_owned()),
        kernel_release: release.map(str::to_owned),
        machine: release.map(|_| "x86_64".to_owned()),
        ..TraceInfo::default()
    };
    VecSource::new(events, info, true)
}

fn comm() -> impl Strategy<Value = Comm> {
    "[a-z][a-z0-9/:-]{0,13}[a-z]".prop_map(|text| Comm::from(text.as_str()))
}

fn symbol() -> impl Strategy<Value = Symbol> {
    "[a-z_][a-z0-9_.]{0,30}".prop_map(|text| Symbol::from(text.as_str()))
}

fn name() -> impl Strategy<Value = Name> {
    "[a-z][a-z0-9_]{0,20}".prop_map(|text| Name::from(text.as_str()))
}

fn tid() -> impl Strategy<Value = Tid> {
    (1..4_194_304).prop_map(Tid)
}

fn prio() -> impl Strategy<Value = Priority> {
    (-1..140).prop_map(Priority)
}

fn cpu() -> impl Strategy<Value = Cpu> {
    (0u32..4).prop_map(Cpu)
}

fn state() -> impl Strategy<Value = TaskState> {
    prop::sample::select(vec![
        TaskState::Runnable,
        TaskState::Preempted,
        TaskState::Interruptible,
        TaskState::Uninterruptible,
        TaskState::Idle,
        TaskState::Dead,
        TaskState::Stopped,
        TaskState::Traced,
        TaskState::Other,
    ])
}

fn wake() -> impl Strategy<Value = Wake> {
    (comm(), tid(), prio(), cpu()).prop_map(|(comm, tid, prio, target_cpu)| Wake {
        comm,
        tid,
        prio,
        target_cpu,
    })
}

fn scheduling() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        ((comm(), tid(), prio(), state()), (comm(), tid(), prio())).prop_map(|(prev, next)| {
            EventKind::Switch(Switch {
                prev_comm: prev.0,
                prev_tid: prev.1,
                prev_prio: prev.2,
                prev_state: prev.3,
                next_comm: next.0,
                next_tid: next.1,
                next_prio: next.2,
            })
        }),
        wake().prop_map(EventKind::Waking),
        (wake(), any::<bool>()).prop_map(|(wake, new)| EventKind::Wakeup { wake, new }),
        (tid(), cpu(), cpu()).prop_map(|(tid, from, to)| EventKind::Migrate { tid, from, to }),
        (tid(), tid(), comm()).prop_map(|(parent, child, comm)| EventKind::Fork { parent, child, comm }),
        (tid(), tid()).prop_map(|(old, tid)| EventKind::Exec { old, tid }),
        tid().prop_map(|tid| EventKind::Exit { tid }),
        (tid(), prio(), prio()).prop_map(|(tid, old, new)| EventKind::PiSetprio { tid, old, new }),
        (tid(), any::<bool>()).prop_map(|(tid, io_wait)| EventKind::BlockedReason(BlockedReason {
            tid,
            io_wait,
            caller: "io_schedule".into()
        })),
        (1..64i32, -64..200i32, tid(), comm()).prop_map(|(sig, code, tid, comm)| EventKind::Signal(Signal {
            sig,
            code,
            tid,
            comm
        })),
    ]
}

fn interrupts() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        (0u32..1000, name()).prop_map(|(irq, name)| EventKind::IrqEntry { irq, name }),
        (0u32..1000).prop_map(|irq| EventKind::IrqExit { irq }),
        name().prop_map(|name| EventKind::VectorEntry { name }),
        Just(EventKind::VectorExit { name: Name::from("local_timer") }),
        (0u32..10).prop_map(|vec| EventKind::SoftirqRaise { vec }),
        (0u32..10).prop_map(|vec| EventKind::SoftirqEntry { vec }),
        (0u32..10).prop_map(|vec| EventKind::SoftirqExit { vec }),
        prop::option::of(0u32..9).prop_map(|state| EventKind::CpuIdle { state }),
        (0i64..1 << 40).prop_map(|ns| EventKind::Nmi { delta: Ns(ns) }),
    ]
}

/// A name of a device or a function that a line of text keeps: it has no blanks.
fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["eth0", "lo", "flush_to_ldisc", "veth-a", "do_sync_core"])
}

fn carriers() -> impl Strategy<Value = EventKind> {
    let steps = prop::sample::select(PacketStep::ALL.to_vec());
    let work_steps = prop::sample::select(WorkStep::ALL.to_vec());
    prop_oneof![
        (word(), 0..300i32, 0..300i32)
            .prop_map(|(dev, work, budget)| { EventKind::NapiPoll { dev: dev.into(), work, budget } }),
        (any::<u64>(), any::<u32>(), word(), steps).prop_map(|(skb, len, dev, step)| {
            let dev = if step == PacketStep::Copied { "" } else { dev };
            EventKind::Packet(Packet { skb, len: len >> 1, dev: dev.into(), step })
        }),
        (any::<u64>(), word(), work_steps).prop_map(|(work, function, step)| {
            EventKind::Work(Work { work, function: function.into(), step })
        }),
        (cpu(), word())
            .prop_map(|(target, from)| { EventKind::CpuCall(CpuCall::Sent { target, from: from.into() }) }),
        (cpu(), word()).prop_map(|(target, function)| {
            EventKind::CpuCall(CpuCall::Queued { target, function: function.into() })
        }),
        word().prop_map(|function| EventKind::CpuCall(CpuCall::Started { function: function.into() })),
        word().prop_map(|function| EventKind::CpuCall(CpuCall::Ended { function: function.into() })),
        (any::<u32>(), cpu()).prop_map(|(khz, target)| EventKind::CpuFrequency { khz, target }),
        prop::option::of(0u32..99).prop_map(|vcpu| EventKind::Kvm(Kvm::Entry { vcpu })),
        (prop::option::of(0u32..99), 1u32..4, any::<u32>()).prop_map(|(vcpu, isa, code)| {
            EventKind::Kvm(Kvm::Exit { vcpu, reason: KvmExitReason { isa, code } })
        }),
    ]
}

fn timers() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        (any::<u64>(), symbol(), 0i64..i64::MAX, 0i64..i64::MAX).prop_map(|(hrtimer, function, a, b)| {
            EventKind::HrtimerStart(HrtimerStart { hrtimer, function, expires: Ns(a), softexpires: Ns(b) })
        }),
        any::<u64>().prop_map(|hrtimer| EventKind::HrtimerCancel { hrtimer }),
        (any::<u64>(), symbol(), 0i64..i64::MAX).prop_map(|(hrtimer, function, now)| {
            EventKind::HrtimerExpire(HrtimerExpiry { hrtimer, function, now: Ns(now) })
        }),
        any::<u64>().prop_map(|hrtimer| EventKind::HrtimerExpireExit { hrtimer }),
        (any::<u64>(), symbol()).prop_map(|(timer, function)| EventKind::TimerExpire { timer, function }),
        any::<u64>().prop_map(|timer| EventKind::TimerExpireExit { timer }),
    ]
}

fn calls() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        (0i64..500, any::<[u64; 6]>()).prop_map(|(nr, args)| EventKind::SyscallEnter(Syscall { nr, args })),
        (0i64..500, any::<i64>()).prop_map(|(nr, ret)| EventKind::SyscallExit(SyscallReturn { nr, ret })),
        (any::<u64>(), any::<u64>(), any::<bool>(), any::<u64>()).prop_map(
            |(address, ip, user, error_code)| EventKind::PageFault(PageFault {
                address,
                ip,
                user,
                error_code
            })
        ),
        (any::<u64>(), 0u32..64)
            .prop_map(|(lock, flags)| EventKind::ContentionBegin { lock, flags: ContentionFlags(flags) }),
        (any::<u64>(), any::<i32>()).prop_map(|(lock, ret)| EventKind::ContentionEnd { lock, ret }),
        "[ -~]{0,50}[!-~]".prop_map(|text| EventKind::Marker(Marker::from(text.trim()))),
        (symbol(), symbol()).prop_map(|(name, caller)| EventKind::Function { name, caller }),
        Just(EventKind::Other),
    ]
}

fn noise() -> impl Strategy<Value = EventKind> {
    let source = prop_oneof![
        Just((NoiseSource::Nmi, Name::default(), 0)),
        (name(), 0u32..4096).prop_map(|(name, vector)| (NoiseSource::Irq, name, vector)),
        (0u32..10).prop_map(|vector| (NoiseSource::Softirq, Name::from(softirq_name(vector)), vector)),
        (comm(), tid()).prop_map(|(comm, tid)| (
            NoiseSource::Thread,
            Name::from(comm.as_str()),
            tid.0 as u32
        )),
    ];
    (source, 0i64..1 << 50, 0i64..1 << 40).prop_map(|((source, name, id), start, duration)| {
        EventKind::Noise(Noise { source, name, id, start: Ns(start), duration: Ns(duration) })
    })
}

/// What the timerlat, osnoise and hwlat tracers measure.
pub(crate) fn measured() -> impl Strategy<Value = EventKind> {
    let contexts = vec![TimerlatContext::Irq, TimerlatContext::Thread, TimerlatContext::UserReturn];
    prop_oneof![
        (any::<u32>(), prop::sample::select(contexts), 0i64..1 << 40).prop_map(|(seq, context, latency)| {
            EventKind::Timerlat(Timerlat { seq, context, latency: Ns(latency) })
        }),
        noise(),
        // Whole microseconds, as the kernel has them.
        (any::<[u32; 5]>(), [0i64..1 << 40, 0i64..1 << 40, 0i64..1 << 40]).prop_map(|(counts, us)| {
            let [runtime, noise, max_sample] = us.map(|us| Ns(us * 1_000));
            let [hw_count, nmi_count, irq_count, softirq_count, thread_count] = counts;
            EventKind::OsnoiseSample(OsnoiseSample {
                runtime,
                noise,
                max_sample,
                hw_count,
                nmi_count,
                irq_count,
                softirq_count,
                thread_count,
            })
        }),
        (0i64..1 << 40, 0i64..1 << 40).prop_map(|(inner, outer)| EventKind::Hwlat {
            inner: Ns(inner * 1_000),
            outer: Ns(outer * 1_000)
        }),
    ]
}

/// What only tracers write.
pub(crate) fn of_tracers() -> impl Strategy<Value = EventKind> {
    prop_oneof![
        measured(),
        (symbol(), 0u32..30).prop_map(|(name, depth)| EventKind::FunctionEntry { name, depth }),
        (symbol(), 0u32..30, 0i64..500).prop_map(|(name, depth, ns)| EventKind::FunctionExit {
            name,
            depth,
            duration: Ns(ns)
        }),
    ]
}

/// One kind of all that tracepoints give.
pub(crate) fn kind() -> impl Strategy<Value = EventKind> {
    prop_oneof![scheduling(), interrupts(), carriers(), timers(), calls()]
}

/// Events in time order, in contexts that a recording shows or not.
pub(crate) fn events(
    kind: impl Strategy<Value = EventKind>,
    flags_known: bool,
) -> impl Strategy<Value = Vec<Event>> {
    let one = (1i64..1 << 33, cpu(), tid(), 0u16..256, 0u8..16, kind);
    prop::collection::vec(one, 1..80).prop_map(move |drawn| {
        let mut ts = 1_000;
        let event = |(delta, cpu, tid, flags, depth, kind): (i64, Cpu, Tid, u16, u8, EventKind)| {
            ts += delta;
            let context = match flags_known {
                true => Context { tid, flags: ContextFlags(flags), preempt_depth: Some(depth) },
                false => Context { tid, flags: ContextFlags::IRQS_UNKNOWN, preempt_depth: None },
            };
            Event { ts: Ns(ts), cpu, context, kind }
        };
        drawn.into_iter().map(event).collect()
    })
}
