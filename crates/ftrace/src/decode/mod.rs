//! Records to typed events.
//!
//! When a recording is opened, each event format is compiled once into a decoder that
//! knows where its fields lie; after that an event costs one table lookup by its id and
//! reads at known offsets. An event that has no type of its own still shows which thread ran.

mod carriers;
mod field;
mod flags;
mod function;
mod irq;
mod osnoise;
mod sched;
mod signal;
mod stack;
mod syscall;
mod task_state;
mod timer;

use crate::bytes::Endian;
use crate::format::{EventFormat, EventFormats};
use crate::symbols::SymbolCache;
use crate::tracefs::{ACTIVATION_BEGIN, ACTIVATION_END, PROBE_GROUP};
use field::{Int, Lookup, Str};
use flags::FlagLayout;
use sched::Sched;
use syscall::Syscalls;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{
    Context, ContextFlags, Event, EventKind, Kind, Marker, PROBED_BEGIN, PROBED_END, Symbol, SyscallReturn,
};

/// The compiled decoders of one recording.
#[derive(Debug)]
pub struct Decoders {
    endian: Endian,
    common: Common,
    by_id: Vec<Slot>,
}

/// The decoder of one event id.
#[derive(Debug)]
struct Slot {
    kind: Kind,
    known: bool,
    /// A record shorter than this lacks one of the fields.
    shortest: usize,
    decoder: Decoder,
}

/// A compiled format, by the part of the kernel it comes from.
#[derive(Debug)]
enum Decoder {
    Sched(Sched),
    Irq(irq::Irq),
    Timer(timer::Timer),
    Syscall(Syscalls),
    Signal(signal::Generate),
    Marker(Str),
    /// A probe of a program's function.
    Probe(&'static str),
    Osnoise(osnoise::Osnoise),
    Function(function::Function),
    Carrier(carriers::Carrier),
    Stack(stack::Stack),
    Other,
}

/// The fields every event begins with.
#[derive(Debug)]
struct Common {
    id: Option<Int>,
    pid: Option<Int>,
    flags: Option<Int>,
    preempt_count: Option<Int>,
    layout: FlagLayout,
    /// They lie as in every kernel since 3.0, least significant byte first.
    is_usual: bool,
}

/// `common_preempt_count` holds the preemption depth in its lower half; since 5.16 the upper
/// half is how deep migration is disabled (`tracing_gen_ctx_irq_test`, `kernel/trace/trace.c`).
const PREEMPT_DEPTH: u8 = 0x0f;

impl Decoders {
    /// Compiles the decoders of all `formats`, of a kernel whose release is not known.
    pub fn new(formats: &EventFormats, endian: Endian) -> Decoders {
        Decoders::of_kernel(formats, endian, None)
    }

    /// Compiles the decoders of all `formats`, of the kernel that `uname -r` calls `release`.
    pub fn of_kernel(formats: &EventFormats, endian: Endian, release: Option<&str>) -> Decoders {
        let slots = formats.iter().map(|format| usize::from(format.id) + 1).max().unwrap_or(0);
        let mut by_id = Vec::new();
        by_id.resize_with(slots, || Slot::other(false));
        for format in formats.iter() {
            if let Some(slot) = by_id.get_mut(usize::from(format.id)) {
                *slot = Slot::compile(format, endian);
            }
        }
        // All events share the common fields.
        let first = formats.iter().next();
        let int = |name| first.and_then(|format| Lookup::new(format, endian).int(name));
        // Records made of a text without those columns (`encode`) show that by a field of their own.
        let flags_known = int("common_irqs_unknown").is_none();
        let usual = [
            ("common_type", 0, 2),
            ("common_flags", 2, 1),
            ("common_preempt_count", 3, 1),
            ("common_pid", 4, 4),
        ];
        let is_usual = flags_known && first.is_some_and(|format| Lookup::new(format, endian).lies_as(&usual));
        let common = Common {
            is_usual,
            id: int("common_type"),
            pid: int("common_pid"),
            flags: int("common_flags").filter(|_| flags_known),
            preempt_count: int("common_preempt_count").filter(|_| flags_known),
            layout: FlagLayout::of(release, int("common_preempt_lazy_count").is_some()),
        };
        Decoders { endian, common, by_id }
    }

    /// The event id of a record; `None` when it is too short to have one.
    #[inline]
    pub fn id(&self, record: &[u8]) -> Option<u16> {
        if self.common.is_usual {
            return Endian::Little.u16(record, 0);
        }
        match self.common.id {
            Some(field) => field.read(self.endian, record).map(|id| id as u16),
            None => self.endian.u16(record, 0),
        }
    }

    /// The kind of the events with that id; `None` where the recording has no format for it.
    #[inline]
    pub fn kind(&self, id: u16) -> Option<Kind> {
        self.by_id.get(usize::from(id)).filter(|slot| slot.known).map(|slot| slot.kind)
    }

    /// Which thread was current, and how interruptible.
    #[inline(always)]
    pub fn context(&self, record: &[u8]) -> Context {
        if self.common.is_usual
            && let Some(&[_, _, flags, count, pid @ ..]) = record.first_chunk::<8>()
        {
            return Context {
                tid: Tid(i32::from_le_bytes(pid)),
                flags: self.common.layout.read(flags),
                preempt_depth: Some(count & PREEMPT_DEPTH),
            };
        }
        let read = |field: &Option<Int>| field.and_then(|field| field.read(self.endian, record));
        Context {
            tid: Tid(read(&self.common.pid).unwrap_or(0) as i32),
            flags: match &self.common.flags {
                Some(_) => self.common.layout.read(read(&self.common.flags).unwrap_or(0) as u8),
                None => ContextFlags::IRQS_UNKNOWN,
            },
            preempt_depth: read(&self.common.preempt_count).map(|count| count as u8 & PREEMPT_DEPTH),
        }
    }

    /// What happened. `None` when the record is shorter than its format. A stack is not one event: see [`stack`](Self::stack).
    pub fn decode(&self, id: u16, record: &[u8], names: &mut SymbolCache) -> Option<EventKind> {
        let Some(slot) = self.by_id.get(usize::from(id)) else { return Some(EventKind::Other) };
        if record.len() < slot.shortest {
            return None;
        }
        // Asked once and not for each field.
        match self.endian {
            Endian::Little => slot.decode(Endian::Little, record, names),
            Endian::Big => slot.decode(Endian::Big, record, names),
        }
    }
}

impl Decoders {
    /// The functions of a stack behind an event (`kernel_stack`), innermost first; none of any other event.
    pub fn stack(&self, id: u16, record: &[u8], names: &mut SymbolCache) -> Vec<Symbol> {
        match self.by_id.get(usize::from(id)).map(|slot| &slot.decoder) {
            Some(Decoder::Stack(stack)) => stack.functions(self.endian, record, names),
            _ => Vec::new(),
        }
    }

    /// What happened, put behind the events of `batch` as one at that time and place. Most are made where they are to
    /// be, and not copied.
    #[inline(always)]
    pub(crate) fn decode_to(
        &self,
        id: u16,
        record: &[u8],
        names: &mut SymbolCache,
        (ts, cpu, context): (Ns, Cpu, Context),
        batch: &mut Vec<Event>,
    ) -> Option<()> {
        if let Some(Slot { decoder, shortest, .. }) = self.by_id.get(usize::from(id))
            && record.len() >= *shortest
        {
            match decoder {
                Decoder::Sched(Sched::Switch(fields)) => {
                    if let Some(switch) = fields.decode_usual(record) {
                        let kind = EventKind::Switch(switch);
                        batch.push(Event { ts, cpu, context, kind });
                        return Some(());
                    }
                }
                Decoder::Sched(Sched::Waking(fields)) => {
                    if let Some(wake) = fields.decode_usual(record) {
                        let kind = EventKind::Waking(wake);
                        batch.push(Event { ts, cpu, context, kind });
                        return Some(());
                    }
                }
                Decoder::Sched(Sched::Wakeup { wake: fields, new }) => {
                    if let Some(wake) = fields.decode_usual(record) {
                        let kind = EventKind::Wakeup { wake, new: *new };
                        batch.push(Event { ts, cpu, context, kind });
                        return Some(());
                    }
                }
                Decoder::Syscall(Syscalls::UsualEnter) => {
                    if let Some(call) = syscall::decode_usual(record) {
                        let kind = EventKind::SyscallEnter(call);
                        batch.push(Event { ts, cpu, context, kind });
                        return Some(());
                    }
                }
                Decoder::Syscall(Syscalls::Exit { nr, ret }) if self.endian == Endian::Little => {
                    if let (Some(nr), Some(ret)) =
                        (nr.read(Endian::Little, record), ret.read(Endian::Little, record))
                    {
                        let kind = EventKind::SyscallExit(SyscallReturn { nr, ret });
                        batch.push(Event { ts, cpu, context, kind });
                        return Some(());
                    }
                }
                Decoder::Stack(_) => {
                    for name in self.stack(id, record, names) {
                        batch.push(Event { ts, cpu, context, kind: EventKind::StackFrame { name } });
                    }
                    return Some(());
                }
                _ => {}
            }
        }
        let kind = self.decode(id, record, names)?;
        batch.push(Event { ts, cpu, context, kind });
        Some(())
    }
}

impl Slot {
    #[inline(always)]
    fn decode(&self, endian: Endian, record: &[u8], names: &mut SymbolCache) -> Option<EventKind> {
        match &self.decoder {
            Decoder::Sched(sched) => sched.decode(endian, record, names),
            Decoder::Irq(irq) => irq.decode(endian, record),
            Decoder::Timer(timer) => timer.decode(endian, record, names),
            Decoder::Syscall(syscall) => syscall.decode(endian, record),
            Decoder::Signal(signal) => signal.decode(endian, record),
            Decoder::Marker(text) => {
                let text = text.read(endian, record);
                let text = text.strip_suffix(b"\n").unwrap_or(text);
                Some(EventKind::Marker(Marker::from_bytes(text)))
            }
            Decoder::Probe(line) => Some(EventKind::Marker(Marker::from(*line))),
            Decoder::Osnoise(osnoise) => osnoise.decode(endian, record),
            Decoder::Function(function) => function.decode(endian, record, names),
            Decoder::Carrier(carrier) => carrier.decode(endian, record, names),
            Decoder::Stack(_) | Decoder::Other => Some(EventKind::Other),
        }
    }

    fn other(known: bool) -> Slot {
        Slot { kind: Kind::Other, known, shortest: 0, decoder: Decoder::Other }
    }

    /// A format that lacks a field its decoder needs gives a plain `Other`.
    fn compile(format: &EventFormat, endian: Endian) -> Slot {
        let mut lookup = Lookup::new(format, endian);
        let osnoise = |lookup: &mut Lookup<'_>| {
            osnoise::compile(lookup).map(|(kind, osnoise)| (kind, Decoder::Osnoise(osnoise)))
        };
        let compiled = match format.system.as_str() {
            "sched" => sched::compile(&mut lookup).map(|(kind, sched)| (kind, Decoder::Sched(sched))),
            "napi" | "net" | "skb" | "workqueue" | "ipi" | "csd" | "kvm" => {
                carriers::compile(&mut lookup).map(|(kind, carrier)| (kind, Decoder::Carrier(carrier)))
            }
            "power" if format.name == "cpu_frequency" => {
                carriers::compile(&mut lookup).map(|(kind, carrier)| (kind, Decoder::Carrier(carrier)))
            }
            PROBE_GROUP if format.name == ACTIVATION_BEGIN => {
                Some((Kind::Marker, Decoder::Probe(PROBED_BEGIN)))
            }
            PROBE_GROUP if format.name == ACTIVATION_END => Some((Kind::Marker, Decoder::Probe(PROBED_END))),
            "irq" | "irq_vectors" | "power" | "nmi" | "exceptions" | "lock" | PROBE_GROUP => {
                irq::compile(&mut lookup).map(|(kind, irq)| (kind, Decoder::Irq(irq)))
            }
            "timer" => timer::compile(&mut lookup).map(|(kind, timer)| (kind, Decoder::Timer(timer))),
            "raw_syscalls" | "syscalls" => {
                syscall::compile(&mut lookup).map(|syscall| (Kind::Syscall, Decoder::Syscall(syscall)))
            }
            "signal" => signal::compile(&mut lookup).map(|signal| (Kind::Signal, Decoder::Signal(signal))),
            "ftrace" => match format.name.as_str() {
                "print" => lookup.text("buf").map(|text| (Kind::Marker, Decoder::Marker(text))),
                "timerlat" | "osnoise" | "hwlat" => osnoise(&mut lookup),
                "kernel_stack" => {
                    stack::compile(&mut lookup).map(|stack| (Kind::Stack, Decoder::Stack(stack)))
                }
                _ => function::compile(&mut lookup).map(|(kind, call)| (kind, Decoder::Function(call))),
            },
            "osnoise" => osnoise(&mut lookup),
            "preemptirq" => function::compile_preemptirq(&mut lookup)
                .map(|(kind, section)| (kind, Decoder::Function(section))),
            _ => None,
        };
        match compiled {
            Some((kind, decoder)) => Slot { kind, known: true, shortest: lookup.shortest(), decoder },
            None => Slot::other(true),
        }
    }
}
