//! Typed events to the bytes of records.

use super::tracepoints::{self as points, COMMON, Common, Shape, Spec};
use crate::dat::write::EventFormat;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use whylate_base::{Cpu, Ns, Tid, release_version};
use whylate_events::{
    BlockedReason, Context, CpuCall, Event, EventKind, Kind, KindSet, Kvm, Name, NoiseSource, PacketStep,
    Symbol, TaskState, TimerlatContext, Wake, WorkStep,
};

/// Writes typed events as records, and remembers what a reader needs to know of them: formats, names.
#[derive(Debug)]
pub struct Encoder {
    common: Common,
    /// Formats that were used, by id.
    used: BTreeSet<u16>,
    /// Formats of the architecture's vectors, by the event's name.
    vectors: BTreeMap<String, u16>,
    /// Made-up addresses of functions, by name.
    functions: HashMap<Symbol, u64>,
}

/// A field's value.
#[derive(Clone, Copy)]
enum Value<'a> {
    Int(i64),
    Text(&'a [u8]),
    Longs(&'a [u64]),
}

/// Where functions seem to lie: in the kernel's text on x86-64, as far apart as functions are aligned.
const FIRST_FUNCTION: u64 = 0xffff_ffff_8100_0000;
const FUNCTION_SPACING: u64 = 16;

/// `cpu_idle`'s state on leaving idle (`PWR_EVENT_EXIT`).
const IDLE_EXIT: i64 = u32::MAX as i64;

/// The bits of `prev_state` in [`points::SWITCH`].
fn state_bits(state: TaskState) -> i64 {
    match state {
        TaskState::Runnable => 0,
        TaskState::Preempted => 0x100,
        TaskState::Interruptible => 0x1,
        TaskState::Uninterruptible => 0x2,
        TaskState::Idle => 0x80,
        TaskState::Dead => 0x10,
        TaskState::Stopped => 0x4,
        TaskState::Traced => 0x8,
        TaskState::Other => 0x40,
    }
}

fn tid(tid: Tid) -> Value<'static> {
    Value::Int(i64::from(tid.0))
}

fn cpu(cpu: Cpu) -> Value<'static> {
    Value::Int(i64::from(cpu.0))
}

/// The summaries of the osnoise and hwlat tracers are in microseconds, of which they cut off the rest
/// (`time_to_us`, `kernel/trace/trace_osnoise.c`, `trace_hwlat.c`).
fn whole_us(time: Ns) -> Value<'static> {
    Value::Int(time.0 / 1_000)
}

fn bits(value: u64) -> Value<'static> {
    Value::Int(value as i64)
}

impl Encoder {
    /// Nothing written yet. Readers take the bits of `common_flags` for those of the kernel `release`, where
    /// the recording names one. Without `has_flags` the records show that interrupt states are not known.
    pub fn new(release: Option<&str>, has_flags: bool) -> Encoder {
        let common = match (has_flags, release.and_then(release_version)) {
            (false, _) => Common::Unknown,
            (true, Some(version)) if version < (6, 12) => Common::OldFlags,
            (true, _) => Common::Flags,
        };
        Encoder { common, used: BTreeSet::new(), vectors: BTreeMap::new(), functions: HashMap::new() }
    }

    /// Writes the record of `event` over what is in `out`. False, and nothing is written, for what is no
    /// record of its own: a loss, and a frame of a stack ([`stack`](Self::stack)).
    pub fn record(&mut self, event: &Event, out: &mut Vec<u8>) -> bool {
        let context = &event.context;
        match event.kind {
            EventKind::Lost { .. } | EventKind::StackFrame { .. } => return false,
            EventKind::Switch(s) => {
                let prev =
                    [Value::Text(s.prev_comm.as_bytes()), tid(s.prev_tid), Value::Int(s.prev_prio.0.into())];
                let next =
                    [Value::Text(s.next_comm.as_bytes()), tid(s.next_tid), Value::Int(s.next_prio.0.into())];
                let [a, b, c] = prev;
                let [d, e, f] = next;
                let state = Value::Int(state_bits(s.prev_state));
                self.put(&points::SWITCH, context, &[a, b, c, state, d, e, f], out);
            }
            EventKind::Waking(wake) => self.wake(&points::WAKING, context, &wake, out),
            EventKind::Wakeup { wake, new: false } => self.wake(&points::WAKEUP, context, &wake, out),
            EventKind::Wakeup { wake, new: true } => self.wake(&points::WAKEUP_NEW, context, &wake, out),
            EventKind::Migrate { tid: who, from, to } => {
                self.put(&points::MIGRATE, context, &[tid(who), cpu(from), cpu(to)], out);
            }
            EventKind::Fork { parent, child, comm } => {
                self.put(
                    &points::FORK,
                    context,
                    &[tid(parent), Value::Text(comm.as_bytes()), tid(child)],
                    out,
                );
            }
            EventKind::Exec { old, tid: who } => self.put(&points::EXEC, context, &[tid(who), tid(old)], out),
            EventKind::Exit { tid: who } => self.put(&points::EXIT, context, &[tid(who)], out),
            EventKind::PiSetprio { tid: who, old, new } => {
                let values = [tid(who), Value::Int(old.0.into()), Value::Int(new.0.into())];
                self.put(&points::PI_SETPRIO, context, &values, out);
            }
            EventKind::BlockedReason(BlockedReason { tid: who, io_wait, caller }) => {
                let values = [tid(who), bits(self.address(caller)), Value::Int(io_wait.into())];
                self.put(&points::BLOCKED_REASON, context, &values, out);
            }
            EventKind::IrqEntry { irq, name } => {
                self.put(&points::IRQ_ENTRY, context, &[bits(irq.into()), Value::Text(name.as_bytes())], out);
            }
            EventKind::IrqExit { irq } => self.put(&points::IRQ_EXIT, context, &[bits(irq.into())], out),
            EventKind::VectorEntry { name } => self.vector(name, "_entry", context, out),
            EventKind::VectorExit { name } => self.vector(name, "_exit", context, out),
            EventKind::SoftirqRaise { vec } => {
                self.put(&points::SOFTIRQ_RAISE, context, &[bits(vec.into())], out)
            }
            EventKind::SoftirqEntry { vec } => {
                self.put(&points::SOFTIRQ_ENTRY, context, &[bits(vec.into())], out)
            }
            EventKind::SoftirqExit { vec } => {
                self.put(&points::SOFTIRQ_EXIT, context, &[bits(vec.into())], out)
            }
            EventKind::CpuIdle { state } => {
                let state = Value::Int(state.map_or(IDLE_EXIT, i64::from));
                self.put(&points::CPU_IDLE, context, &[state, cpu(event.cpu)], out);
            }
            EventKind::Nmi { delta } => self.put(&points::NMI, context, &[Value::Int(delta.0)], out),
            EventKind::PageFault(fault) => {
                let spec = if fault.user { &points::PAGE_FAULT_USER } else { &points::PAGE_FAULT_KERNEL };
                self.put(spec, context, &[bits(fault.address), bits(fault.ip), bits(fault.error_code)], out);
            }
            EventKind::ContentionBegin { lock, flags } => {
                self.put(&points::CONTENTION_BEGIN, context, &[bits(lock), bits(flags.0.into())], out);
            }
            EventKind::ContentionEnd { lock, ret } => {
                self.put(&points::CONTENTION_END, context, &[bits(lock), Value::Int(ret.into())], out);
            }
            EventKind::SyscallEnter(call) => {
                self.put(&points::SYS_ENTER, context, &[Value::Int(call.nr), Value::Longs(&call.args)], out);
            }
            EventKind::SyscallExit(call) => {
                self.put(&points::SYS_EXIT, context, &[Value::Int(call.nr), Value::Int(call.ret)], out);
            }
            EventKind::Signal(signal) => {
                let numbers = [Value::Int(signal.sig.into()), Value::Int(signal.code.into())];
                let [sig, code] = numbers;
                let values = [sig, code, Value::Text(signal.comm.as_bytes()), tid(signal.tid)];
                self.put(&points::SIGNAL, context, &values, out);
            }
            EventKind::Marker(text) => {
                let writer = self.address(Symbol::from("tracing_mark_write"));
                let line = [text.as_bytes(), b"\n"].concat();
                self.put(&points::PRINT, context, &[bits(writer), Value::Text(&line)], out);
            }
            // Its caller is an offset from a symbol of the kernel that recorded it.
            EventKind::Other | EventKind::Preemptirq { .. } => {
                self.put(&points::OTHER, context, &[Value::Int(0)], out)
            }
            _ => {
                if !self.carriers(event, out) {
                    self.timers_and_tracers(event, out);
                }
            }
        }
        true
    }

    /// Packets, work items, calls between CPUs.
    fn carriers(&mut self, event: &Event, out: &mut Vec<u8>) -> bool {
        let context = &event.context;
        match event.kind {
            EventKind::NapiPoll { dev, work, budget } => {
                let values =
                    [Value::Text(dev.as_bytes()), Value::Int(work.into()), Value::Int(budget.into())];
                self.put(&points::NAPI_POLL, context, &values, out);
            }
            EventKind::Packet(packet) => {
                let (skb, len) = (bits(packet.skb), bits(packet.len.into()));
                let spec = match packet.step {
                    PacketStep::Queued => &points::NET_DEV_QUEUE,
                    PacketStep::Started => &points::NET_DEV_START_XMIT,
                    PacketStep::Sent => &points::NET_DEV_XMIT,
                    PacketStep::Looped => &points::NETIF_RX,
                    PacketStep::Received => &points::NETIF_RECEIVE_SKB,
                    PacketStep::Copied => {
                        self.put(&points::SKB_COPY, context, &[skb, len], out);
                        return true;
                    }
                };
                self.put(spec, context, &[skb, len, Value::Text(packet.dev.as_bytes())], out);
            }
            EventKind::Work(work) => {
                let spec = match work.step {
                    WorkStep::Queued => &points::WORK_QUEUE,
                    WorkStep::Activated => &points::WORK_ACTIVATE,
                    WorkStep::Started => &points::WORK_START,
                    WorkStep::Ended => &points::WORK_END,
                };
                let function = bits(self.address(work.function));
                self.put(spec, context, &[bits(work.work), function], out);
            }
            EventKind::CpuCall(CpuCall::Sent { target, from }) => {
                let from = bits(self.address(from));
                self.put(&points::IPI_SEND, context, &[cpu(target), from], out);
            }
            EventKind::CpuCall(CpuCall::Queued { target, function }) => {
                let function = bits(self.address(function));
                self.put(&points::CSD_QUEUE, context, &[cpu(target), function], out);
            }
            EventKind::CpuCall(CpuCall::Started { function }) => {
                let function = bits(self.address(function));
                self.put(&points::CSD_START, context, &[function], out);
            }
            EventKind::CpuCall(CpuCall::Ended { function }) => {
                let function = bits(self.address(function));
                self.put(&points::CSD_END, context, &[function], out);
            }
            EventKind::CpuFrequency { khz, target } => {
                self.put(&points::CPU_FREQUENCY, context, &[bits(khz.into()), cpu(target)], out);
            }
            EventKind::Kvm(Kvm::Entry { vcpu }) => {
                self.put(&points::KVM_ENTRY, context, &[bits(vcpu.unwrap_or(u32::MAX).into())], out);
            }
            EventKind::Kvm(Kvm::Exit { vcpu, reason }) => {
                let numbers = [reason.code, reason.isa, vcpu.unwrap_or(u32::MAX)];
                self.put(&points::KVM_EXIT, context, &numbers.map(|number| bits(number.into())), out);
            }
            _ => return false,
        }
        true
    }

    /// Timers, functions, and what latency tracers measure.
    fn timers_and_tracers(&mut self, event: &Event, out: &mut Vec<u8>) {
        let context = &event.context;
        match event.kind {
            EventKind::HrtimerStart(start) => {
                let times = [Value::Int(start.expires.0), Value::Int(start.softexpires.0)];
                let [expires, softexpires] = times;
                let function = bits(self.address(start.function));
                let values = [bits(start.hrtimer), function, expires, softexpires];
                self.put(&points::HRTIMER_START, context, &values, out);
            }
            EventKind::HrtimerCancel { hrtimer } => {
                self.put(&points::HRTIMER_CANCEL, context, &[bits(hrtimer)], out);
            }
            EventKind::HrtimerExpire(expiry) => {
                let function = bits(self.address(expiry.function));
                let values = [bits(expiry.hrtimer), Value::Int(expiry.now.0), function];
                self.put(&points::HRTIMER_EXPIRE, context, &values, out);
            }
            EventKind::HrtimerExpireExit { hrtimer } => {
                self.put(&points::HRTIMER_EXPIRE_EXIT, context, &[bits(hrtimer)], out);
            }
            EventKind::TimerExpire { timer, function } => {
                let function = bits(self.address(function));
                self.put(&points::TIMER_EXPIRE, context, &[bits(timer), function], out);
            }
            EventKind::TimerExpireExit { timer } => {
                self.put(&points::TIMER_EXPIRE_EXIT, context, &[bits(timer)], out);
            }
            EventKind::Function { name, caller } => {
                let (ip, parent) = (bits(self.address(name)), bits(self.address(caller)));
                self.put(&points::FUNCTION, context, &[ip, parent], out);
            }
            EventKind::FunctionEntry { name, depth } => {
                let function = bits(self.address(name));
                self.put(&points::GRAPH_ENTRY, context, &[function, bits(depth.into())], out);
            }
            EventKind::FunctionExit { name, depth, duration } => {
                let function = bits(self.address(name));
                let times = [Value::Int((event.ts - duration).0), Value::Int(event.ts.0)];
                let [call, ret] = times;
                self.put(&points::GRAPH_EXIT, context, &[function, call, ret, bits(depth.into())], out);
            }
            EventKind::Timerlat(sample) => {
                let place = match sample.context {
                    TimerlatContext::Irq => 0,
                    TimerlatContext::Thread => 1,
                    TimerlatContext::UserReturn => 2,
                };
                let values = [bits(sample.seq.into()), Value::Int(place), Value::Int(sample.latency.0)];
                self.put(&points::TIMERLAT, context, &values, out);
            }
            EventKind::Noise(noise) => {
                let (start, duration) = (Value::Int(noise.start.0), Value::Int(noise.duration.0));
                let (name, id) = (Value::Text(noise.name.as_bytes()), bits(noise.id.into()));
                match noise.source {
                    NoiseSource::Nmi => self.put(&points::NMI_NOISE, context, &[start, duration], out),
                    NoiseSource::Irq => {
                        self.put(&points::IRQ_NOISE, context, &[start, duration, name, id], out);
                    }
                    NoiseSource::Softirq => {
                        self.put(&points::SOFTIRQ_NOISE, context, &[start, duration, id], out);
                    }
                    NoiseSource::Thread => {
                        self.put(&points::THREAD_NOISE, context, &[name, start, duration, id], out);
                    }
                }
            }
            EventKind::OsnoiseThreshold { start, duration, interferences } => {
                let values = [Value::Int(start.0), Value::Int(duration.0), bits(interferences.into())];
                self.put(&points::SAMPLE_THRESHOLD, context, &values, out);
            }
            EventKind::OsnoiseSample(sample) => {
                let times = [sample.noise, sample.runtime, sample.max_sample].map(whole_us);
                let counts = [
                    sample.hw_count,
                    sample.nmi_count,
                    sample.irq_count,
                    sample.softirq_count,
                    sample.thread_count,
                ]
                .map(|count| bits(count.into()));
                let values: Vec<Value<'_>> = times.into_iter().chain(counts).collect();
                self.put(&points::OSNOISE, context, &values, out);
            }
            EventKind::Hwlat { inner, outer } => {
                self.put(&points::HWLAT, context, &[whole_us(inner), whole_us(outer)], out);
            }
            _ => {}
        }
    }

    /// Writes the record of a whole stack, innermost frame first, over what is in `out`.
    pub fn stack(&mut self, context: &Context, frames: &[Symbol], out: &mut Vec<u8>) {
        let callers: Vec<u64> = frames.iter().map(|&frame| self.address(frame)).collect();
        self.put(&points::STACK, context, &[bits(callers.len() as u64), Value::Longs(&callers)], out);
    }

    /// The formats of `ftrace`, and those of all other groups, a group's next to each other: of all records
    /// so far, and of the kinds that were switched on though nothing came of them.
    pub fn formats(&self, recorded: KindSet) -> (Vec<String>, Vec<EventFormat>) {
        let on = |spec: &Spec| {
            let full = format!("{}:{}", spec.group, spec.name);
            let named = |kind: Kind| kind.tracepoints().contains(&full.as_str());
            self.used.contains(&spec.id) || recorded.iter().any(named)
        };
        let common = self.common;
        let text = |spec: &Spec| points::text(common, spec.name, spec.id, spec.fields, spec.print_fmt);
        let (ftrace, others): (Vec<&Spec>, Vec<&Spec>) =
            points::ALL.iter().copied().filter(|spec| on(spec)).partition(|spec| spec.group == "ftrace");
        let mut events: Vec<EventFormat> = others
            .into_iter()
            .map(|spec| EventFormat { group: spec.group.to_owned(), text: text(spec) })
            .collect();
        for (name, &id) in &self.vectors {
            let fields = [("int vector", Shape::Signed(4))];
            let text = points::text(common, name, id, &fields, r#""vector=%d", REC->vector"#);
            events.push(EventFormat { group: "irq_vectors".to_owned(), text });
        }
        events.sort_by(|a, b| a.group.cmp(&b.group));
        (ftrace.into_iter().map(text).collect(), events)
    }

    /// The functions that were named, in the form of `/proc/kallsyms`, at addresses made up here.
    pub fn kallsyms(&self) -> String {
        let mut sorted: Vec<(u64, Symbol)> = self.functions.iter().map(|(&name, &at)| (at, name)).collect();
        sorted.sort_unstable_by_key(|&(at, _)| at);
        sorted.iter().fold(String::new(), |mut text, (at, name)| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{at:016x} T {}", name.as_str());
            text
        })
    }

    /// 0 for a function without a name, or whose name does not fit a line of a symbol table.
    fn address(&mut self, name: Symbol) -> u64 {
        let text = name.as_str();
        if text.is_empty() || text.contains(char::is_whitespace) {
            return 0;
        }
        let next = FIRST_FUNCTION + self.functions.len() as u64 * FUNCTION_SPACING;
        *self.functions.entry(name).or_insert(next)
    }

    fn wake(&mut self, spec: &Spec, context: &Context, wake: &Wake, out: &mut Vec<u8>) {
        let prio = Value::Int(wake.prio.0.into());
        let values = [Value::Text(wake.comm.as_bytes()), tid(wake.tid), prio, cpu(wake.target_cpu)];
        self.put(spec, context, &values, out);
    }

    fn vector(&mut self, name: Name, end: &str, context: &Context, out: &mut Vec<u8>) {
        let number = vector_number(name.as_str());
        let name = format!("{}{end}", name.as_str());
        if self.vectors.len() >= MOST_VECTORS && !self.vectors.contains_key(&name) {
            return self.put(&points::OTHER, context, &[Value::Int(0)], out);
        }
        let next = points::FIRST_VECTOR + self.vectors.len() as u16;
        let id = *self.vectors.entry(name).or_insert(next);
        put(self.common, id, &[("", Shape::Signed(4))], context, &[Value::Int(number.into())], out);
    }

    fn put(&mut self, spec: &Spec, context: &Context, values: &[Value<'_>], out: &mut Vec<u8>) {
        self.used.insert(spec.id);
        put(self.common, spec.id, spec.fields, context, values, out);
    }
}

/// More than any architecture has; names may come from a damaged text.
const MOST_VECTORS: usize = 4096;

/// The number of an x86 vector by its events' name (`arch/x86/include/asm/irq_vectors.h`,
/// `arch/x86/include/asm/trace/irq_vectors.h`); 0 for one that is not known here.
pub fn vector_number(name: &str) -> u32 {
    match name {
        "spurious_apic" => 0xff,
        "error_apic" => 0xfe,
        "reschedule" => 0xfd,
        "call_function" => 0xfc,
        "call_function_single" => 0xfb,
        "thermal_apic" => 0xfa,
        "threshold_apic" => 0xf9,
        "x86_platform_ipi" => 0xf7,
        "irq_work" => 0xf6,
        "deferred_error_apic" => 0xf4,
        "local_timer" => 0xec,
        _ => 0,
    }
}

/// Writes a record, its fields one after the other at their alignment, as [`points::text`] describes them.
fn put(
    common: Common,
    id: u16,
    fields: &[(&str, Shape)],
    context: &Context,
    values: &[Value<'_>],
    out: &mut Vec<u8>,
) {
    debug_assert_eq!(fields.len(), values.len());
    out.clear();
    out.extend(id.to_ne_bytes());
    out.push(common.flags(context.flags));
    out.push(context.preempt_depth.unwrap_or(0));
    out.extend(context.tid.0.to_ne_bytes());
    // Where a data location stands, and the text it points to.
    let mut tail: Option<(usize, &[u8])> = None;
    for (&(_, shape), &value) in fields.iter().zip(values) {
        let (size, align) = shape.layout();
        out.resize(out.len().next_multiple_of(align), 0);
        match (shape, value) {
            (Shape::Signed(_) | Shape::Unsigned(_), Value::Int(value)) => {
                let bytes = value.to_ne_bytes();
                let narrow = if cfg!(target_endian = "big") { &bytes[8 - size..] } else { &bytes[..size] };
                out.extend(narrow);
            }
            (Shape::Comm, Value::Text(text)) => {
                let end = out.len() + size;
                out.extend(text.iter().take(size));
                out.resize(end, 0);
            }
            (Shape::DataLoc, Value::Text(text)) => {
                tail = Some((out.len(), text));
                out.extend([0; 4]);
            }
            (Shape::Text, Value::Text(text)) => {
                out.extend(text);
                out.push(0);
            }
            (Shape::SixLongs | Shape::Longs, Value::Longs(longs)) => {
                longs.iter().for_each(|long| out.extend(long.to_ne_bytes()));
            }
            _ => debug_assert!(false, "a value does not have its field's shape"),
        }
    }
    if let Some((at, text)) = tail {
        let location = (text.len() as u32 + 1) << 16 | out.len() as u32;
        if let Some(place) = out.get_mut(at..at + 4) {
            place.copy_from_slice(&location.to_ne_bytes());
        }
        out.extend(text);
        out.push(0);
    }
    debug_assert!(out.len() >= COMMON);
}
