//! `FtraceEvent` messages to typed events (`protos/perfetto/trace/ftrace/*.proto`).

mod noise;

use super::generic::Generic;
use super::state::StateBits;
use super::wire::fields;
use whylate_base::{Cpu, Ns, Priority, Text, Tid};
use whylate_events::{
    BlockedReason, ContentionFlags, CpuCall, EventKind, HrtimerExpiry, HrtimerStart, Kind, Kvm,
    KvmExitReason, Marker, Name, Packet, PacketStep, PageFault, Signal, Switch, Symbol, Syscall,
    SyscallReturn, Wake, Work, WorkStep,
};

/// The numbers of `FtraceEvent`'s fields.
pub(super) mod number {
    pub(in crate::perfetto) const TIMESTAMP: u32 = 1;
    pub(in crate::perfetto) const PID: u32 = 2;
    pub(in crate::perfetto) const COMMON_FLAGS: u32 = 5;
    pub(in crate::perfetto) const GENERIC: u32 = 327;
}

/// The kind of the event in field `number`; `None`: an event without a type here.
/// A generic event must be looked into.
pub(super) fn kind_of(number: u32) -> Option<Kind> {
    Some(match number {
        3 => Kind::Marker,
        4 => Kind::Switch,
        11 => Kind::CpuFrequency,
        13 => Kind::CpuIdle,
        17 | 114 => Kind::Wakeup,
        18 => Kind::BlockedReason,
        20 => Kind::Waking,
        24..=26 => Kind::Softirq,
        36 | 37 => Kind::Irq,
        56..=59 => Kind::Work,
        237 => Kind::Exec,
        238 => Kind::Exit,
        239 => Kind::Fork,
        325 => Kind::Signal,
        329 | 330 => Kind::Syscall,
        353 => Kind::PiSetprio,
        491 => Kind::Migrate,
        551 | 552 => Kind::HrtimerStart,
        553 | 554 => Kind::HrtimerExpire,
        557 | 558 => Kind::TimerExpire,
        559 | 560 => Kind::Vector,
        _ => return None,
    })
}

/// A message's fields, by number, as far as events have them.
struct Message<'b> {
    ints: [i64; 8],
    texts: [&'b [u8]; 8],
    args: [u64; 6],
}

impl<'b> Message<'b> {
    fn read(bytes: &'b [u8]) -> Message<'b> {
        let mut message = Message { ints: [0; 8], texts: [&[]; 8], args: [0; 6] };
        let mut args = 0;
        for field in fields(bytes) {
            let index = field.number as usize;
            match field.bytes(bytes) {
                Some(text) => {
                    if let Some(slot) = message.texts.get_mut(index) {
                        *slot = text;
                    }
                }
                None => {
                    let value = field.int().unwrap_or(0);
                    if let Some(slot) = message.ints.get_mut(index) {
                        *slot = value as i64;
                    }
                    // Repeated: the arguments of a system call.
                    if field.number == 2
                        && let Some(slot) = message.args.get_mut(args)
                    {
                        *slot = value;
                        args += 1;
                    }
                }
            }
        }
        message
    }

    fn int(&self, number: usize) -> i64 {
        self.ints.get(number).copied().unwrap_or(0)
    }

    fn u32(&self, number: usize) -> u32 {
        self.int(number) as u32
    }

    fn u64(&self, number: usize) -> u64 {
        self.int(number) as u64
    }

    fn tid(&self, number: usize) -> Tid {
        Tid(self.int(number) as i32)
    }

    fn prio(&self, number: usize) -> Priority {
        Priority(self.int(number) as i32)
    }

    fn text<const N: usize>(&self, number: usize) -> Text<N> {
        Text::from_bytes(self.texts.get(number).copied().unwrap_or_default())
    }

    fn wake(&self) -> Wake {
        Wake { comm: self.text(1), tid: self.tid(2), prio: self.prio(3), target_cpu: Cpu(self.u32(5)) }
    }
}

/// `cpu_idle`'s state on leaving idle (`PWR_EVENT_EXIT`).
const IDLE_EXIT: u32 = u32::MAX;

/// Decodes the event in field `number`; `name` gives the kernel's functions that events have as numbers.
pub(super) fn decode(
    number: u32,
    bytes: &[u8],
    states: StateBits,
    name: impl Fn(u64) -> Symbol,
) -> EventKind {
    let m = Message::read(bytes);
    let work = |step| EventKind::Work(Work { work: m.u64(1), function: name(m.u64(2)), step });
    match number {
        3 => EventKind::Marker(marker(m.texts.get(2).copied().unwrap_or_default())),
        4 => EventKind::Switch(Switch {
            prev_comm: m.text(1),
            prev_tid: m.tid(2),
            prev_prio: m.prio(3),
            prev_state: states.of(m.int(4)),
            next_comm: m.text(5),
            next_tid: m.tid(6),
            next_prio: m.prio(7),
        }),
        11 => EventKind::CpuFrequency { khz: m.u32(1), target: Cpu(m.u32(2)) },
        13 => EventKind::CpuIdle { state: Some(m.u32(1)).filter(|&state| state != IDLE_EXIT) },
        17 => EventKind::Wakeup { wake: m.wake(), new: false },
        18 => EventKind::BlockedReason(BlockedReason {
            tid: m.tid(1),
            io_wait: m.int(3) != 0,
            caller: name(m.u64(2)),
        }),
        20 => EventKind::Waking(m.wake()),
        24 => EventKind::SoftirqEntry { vec: m.u32(1) },
        25 => EventKind::SoftirqExit { vec: m.u32(1) },
        26 => EventKind::SoftirqRaise { vec: m.u32(1) },
        36 => EventKind::IrqEntry { irq: m.u32(1), name: m.text(2) },
        37 => EventKind::IrqExit { irq: m.u32(1) },
        56 => work(WorkStep::Activated),
        57 => work(WorkStep::Ended),
        58 => work(WorkStep::Started),
        59 => work(WorkStep::Queued),
        114 => EventKind::Wakeup { wake: m.wake(), new: true },
        237 => EventKind::Exec { old: m.tid(3), tid: m.tid(2) },
        238 => EventKind::Exit { tid: m.tid(2) },
        239 => EventKind::Fork { parent: m.tid(2), child: m.tid(4), comm: m.text(3) },
        325 => EventKind::Signal(Signal {
            sig: m.int(6) as i32,
            code: m.int(1) as i32,
            tid: m.tid(4),
            comm: m.text(2),
        }),
        329 => EventKind::SyscallEnter(Syscall { nr: m.int(1), args: arguments(&m) }),
        330 => EventKind::SyscallExit(SyscallReturn { nr: m.int(1), ret: m.int(2) }),
        353 => EventKind::PiSetprio { tid: m.tid(4), old: m.prio(3), new: m.prio(2) },
        491 => EventKind::Migrate { tid: m.tid(2), from: Cpu(m.u32(4)), to: Cpu(m.u32(5)) },
        551 => EventKind::HrtimerStart(HrtimerStart {
            hrtimer: m.u64(1),
            function: name(m.u64(2)),
            expires: Ns(m.int(3)),
            softexpires: Ns(m.int(4)),
        }),
        552 => EventKind::HrtimerCancel { hrtimer: m.u64(1) },
        553 => EventKind::HrtimerExpire(HrtimerExpiry {
            hrtimer: m.u64(1),
            function: name(m.u64(3)),
            now: Ns(m.int(2)),
        }),
        554 => EventKind::HrtimerExpireExit { hrtimer: m.u64(1) },
        557 => EventKind::TimerExpire { timer: m.u64(1), function: name(m.u64(3)) },
        558 => EventKind::TimerExpireExit { timer: m.u64(1) },
        559 => EventKind::VectorEntry { name: Name::from("local_timer") },
        560 => EventKind::VectorExit { name: Name::from("local_timer") },
        _ => EventKind::Other,
    }
}

/// A system call's arguments, whether each has a tag of its own or all have one.
fn arguments(message: &Message<'_>) -> [u64; 6] {
    let packed = message.texts.get(2).copied().unwrap_or_default();
    let mut args = message.args;
    let mut at = 0;
    for slot in &mut args {
        let Some((value, size)) = packed.get(at..).and_then(super::wire::varint) else { break };
        *slot = value;
        at += size;
    }
    args
}

fn marker(text: &[u8]) -> Marker {
    Marker::from_bytes(text.strip_suffix(b"\n").unwrap_or(text))
}

/// What a generic event shows; [`EventKind::Other`] where the event has no type here.
pub(super) fn decode_generic(event: &Generic<'_>) -> EventKind {
    known(event).unwrap_or(EventKind::Other)
}

fn known(event: &Generic<'_>) -> Option<EventKind> {
    let name = std::str::from_utf8(event.name).ok()?;
    let u64 = |name| event.int(name).map(|value| value as u64);
    let vcpu = || event.int("vcpu_id").map(|vcpu| vcpu as u32).filter(|&vcpu| vcpu != u32::MAX);
    Some(match name {
        "page_fault_user" | "page_fault_kernel" => EventKind::PageFault(PageFault {
            address: u64("address")?,
            ip: u64("ip")?,
            user: name == "page_fault_user",
            error_code: u64("error_code").unwrap_or(0),
        }),
        "contention_begin" => EventKind::ContentionBegin {
            lock: u64("lock_addr")?,
            flags: ContentionFlags(u64("flags")? as u32),
        },
        "contention_end" => {
            EventKind::ContentionEnd { lock: u64("lock_addr")?, ret: event.int("ret")? as i32 }
        }
        "napi_poll" => EventKind::NapiPoll {
            dev: event.text("dev_name").map(|dev: Symbol| Name::from(dev.as_str())).unwrap_or_default(),
            work: event.int("work")? as i32,
            budget: event.int("budget")? as i32,
        },
        "ipi_send_cpu" => EventKind::CpuCall(CpuCall::Sent {
            target: Cpu(event.int("cpu")? as u32),
            from: event.text("callsite").unwrap_or_default(),
        }),
        "csd_queue_cpu" => EventKind::CpuCall(CpuCall::Queued {
            target: Cpu(event.int("cpu")? as u32),
            function: event.text("func").unwrap_or_default(),
        }),
        "csd_function_entry" => {
            EventKind::CpuCall(CpuCall::Started { function: event.text("func").unwrap_or_default() })
        }
        "csd_function_exit" => {
            EventKind::CpuCall(CpuCall::Ended { function: event.text("func").unwrap_or_default() })
        }
        "cpu_frequency" => EventKind::CpuFrequency {
            khz: event.int("state")? as u32,
            target: Cpu(event.int("cpu_id")? as u32),
        },
        "kvm_entry" => EventKind::Kvm(Kvm::Entry { vcpu: vcpu() }),
        "kvm_exit" => {
            let reason =
                KvmExitReason { code: event.int("exit_reason")? as u32, isa: event.int("isa")? as u32 };
            EventKind::Kvm(Kvm::Exit { vcpu: vcpu(), reason })
        }
        "nmi_handler" => EventKind::Nmi { delta: Ns(event.int("delta_ns")?) },
        // As `whylate convert` writes them: Perfetto's recorder cannot have these tracers' own entries.
        "function" => {
            let caller = event.text("caller").unwrap_or_default();
            EventKind::Function { name: event.text("function")?, caller }
        }
        "kernel_stack" => EventKind::StackFrame { name: event.text("function")? },
        _ => {
            if let Some(step) = PacketStep::of(name) {
                let dev = event.text("name").map(|dev: Symbol| Name::from(dev.as_str()));
                return Some(EventKind::Packet(Packet {
                    skb: u64("skbaddr")?,
                    len: event.int("len").unwrap_or(0) as u32,
                    dev: dev.unwrap_or_default(),
                    step,
                }));
            }
            if let Some(step) = WorkStep::of(name) {
                let function = event.text("function").unwrap_or_default();
                return Some(EventKind::Work(Work { work: u64("work")?, function, step }));
            }
            if let Some(kind) = noise::decode(name, event) {
                return Some(kind);
            }
            // Of `irq_vectors`; their one field is the vector.
            event.int("vector")?;
            match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
                (Some(name), _) => EventKind::VectorEntry { name: Name::from(name) },
                (_, Some(name)) => EventKind::VectorExit { name: Name::from(name) },
                _ => return None,
            }
        }
    })
}
