//! JSON lines: the facts of the recording, then one object for each event.
//!
//! ```text
//! {"schema":"whylate.events/1","format":"trace.dat v7","cpus":2,"clock":"mono", ...}
//! {"ts":1999123456789,"cpu":1,"tid":312,"flags":["irqs_off"],"preempt_depth":2,
//!  "group":"sched","event":"sched_wakeup","fields":{"comm":"rtload", ...}}
//! ```
//!
//! Times are nanoseconds of the trace clock. `tid` is the thread that was current, `preempt_depth` is missing
//! where the source does not show it. An event's own fields are under `fields`, with the kernel's names.

use crate::cut::Cut;
use crate::sink::{Written, each};
use crate::tracepoint::Tracepoint;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use whylate_events::{
    BlockedReason, ContextFlags, CpuCall, Event, EventKind, EventSource, Kvm, Noise, NoiseSource, Packet,
    PacketStep, TaskState, TimerlatContext, TraceInfo, Wake,
};

/// The schema named in the first line.
pub const SCHEMA: &str = "whylate.events/1";

/// Writes the events of `source` that `cut` keeps.
///
/// # Errors
/// What `out` answers.
pub fn write(
    source: &mut (impl EventSource + ?Sized),
    cut: &Cut,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let mut written = Written::default();
    line(out, &head(source.info()))?;
    let mut events = 0;
    each(source, cut, &mut written, |event, _| {
        events += 1;
        line(out, &of(event))
    })?;
    out.flush()?;
    Ok(Written { events, ..written })
}

fn line(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

fn head(info: &TraceInfo) -> Value {
    json!({
        "schema": SCHEMA,
        "format": info.format,
        "cpus": info.cpus,
        "clock": info.clock,
        "kernel_release": info.kernel_release,
        "machine": info.machine,
    })
}

/// An event's object.
fn of(event: &Event) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("ts", event.ts.0.into());
    put("cpu", event.cpu.0.into());
    put("tid", event.context.tid.0.into());
    put("flags", flags(event.context.flags));
    if let Some(depth) = event.context.preempt_depth {
        put("preempt_depth", depth.into());
    }
    let point = Tracepoint::of(&event.kind);
    put("group", point.group.into());
    put("event", point.name.as_ref().into());
    put("fields", fields(event));
    Value::Object(object)
}

fn flags(flags: ContextFlags) -> Value {
    let names = [
        (ContextFlags::IRQS_OFF, "irqs_off"),
        (ContextFlags::IRQS_UNKNOWN, "irqs_unknown"),
        (ContextFlags::NEED_RESCHED, "need_resched"),
        (ContextFlags::HARDIRQ, "hardirq"),
        (ContextFlags::SOFTIRQ, "softirq"),
    ];
    names.into_iter().filter(|&(flag, _)| flags.contains(flag)).map(|(_, name)| name).collect()
}

/// What an event has of its own, by the kernel's names.
pub fn fields(event: &Event) -> Value {
    match event.kind {
        EventKind::Switch(s) => json!({
            "prev_comm": s.prev_comm, "prev_pid": s.prev_tid, "prev_prio": s.prev_prio,
            "prev_state": state(s.prev_state),
            "next_comm": s.next_comm, "next_pid": s.next_tid, "next_prio": s.next_prio,
        }),
        EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => woken(&wake),
        EventKind::Migrate { tid, from, to } => json!({"pid": tid, "orig_cpu": from, "dest_cpu": to}),
        EventKind::Fork { parent, child, comm } => {
            json!({"parent_pid": parent, "child_pid": child, "child_comm": comm})
        }
        EventKind::Exec { old, tid } => json!({"pid": tid, "old_pid": old}),
        EventKind::Exit { tid } => json!({"pid": tid}),
        EventKind::PiSetprio { tid, old, new } => json!({"pid": tid, "oldprio": old, "newprio": new}),
        EventKind::BlockedReason(BlockedReason { tid, io_wait, caller }) => {
            json!({"pid": tid, "io_wait": u8::from(io_wait), "caller": caller})
        }
        EventKind::IrqEntry { irq, name } => json!({"irq": irq, "name": name}),
        EventKind::IrqExit { irq } => json!({"irq": irq}),
        EventKind::VectorEntry { name } | EventKind::VectorExit { name } => json!({"name": name}),
        EventKind::SoftirqRaise { vec }
        | EventKind::SoftirqEntry { vec }
        | EventKind::SoftirqExit { vec } => {
            json!({"vec": vec})
        }
        EventKind::HrtimerStart(start) => json!({
            "hrtimer": hex(start.hrtimer), "function": start.function,
            "expires": start.expires, "softexpires": start.softexpires,
        }),
        EventKind::HrtimerCancel { hrtimer } | EventKind::HrtimerExpireExit { hrtimer } => {
            json!({"hrtimer": hex(hrtimer)})
        }
        EventKind::HrtimerExpire(expiry) => {
            json!({"hrtimer": hex(expiry.hrtimer), "function": expiry.function, "now": expiry.now})
        }
        EventKind::TimerExpire { timer, function } => json!({"timer": hex(timer), "function": function}),
        EventKind::TimerExpireExit { timer } => json!({"timer": hex(timer)}),
        EventKind::SyscallEnter(call) => json!({"id": call.nr, "args": call.args.map(hex)}),
        EventKind::SyscallExit(call) => json!({"id": call.nr, "ret": call.ret}),
        EventKind::PageFault(fault) => {
            json!({"address": hex(fault.address), "ip": hex(fault.ip), "error_code": hex(fault.error_code)})
        }
        EventKind::ContentionBegin { lock, flags } => json!({"lock_addr": hex(lock), "flags": flags.0}),
        EventKind::ContentionEnd { lock, ret } => json!({"lock_addr": hex(lock), "ret": ret}),
        // Null on leaving idle.
        EventKind::CpuIdle { state } => json!({"state": state}),
        EventKind::NapiPoll { dev, work, budget } => json!({"dev_name": dev, "work": work, "budget": budget}),
        EventKind::Packet(Packet { skb, len, step: PacketStep::Copied, .. }) => {
            json!({"skbaddr": hex(skb), "len": len})
        }
        EventKind::Packet(packet) => {
            json!({"name": packet.dev, "skbaddr": hex(packet.skb), "len": packet.len})
        }
        EventKind::Work(work) => json!({"work": hex(work.work), "function": work.function}),
        EventKind::CpuCall(CpuCall::Sent { target, from }) => json!({"cpu": target, "callsite": from}),
        EventKind::CpuCall(CpuCall::Queued { target, function }) => json!({"cpu": target, "func": function}),
        EventKind::CpuCall(CpuCall::Started { function } | CpuCall::Ended { function }) => {
            json!({"func": function})
        }
        EventKind::CpuFrequency { khz, target } => json!({"state": khz, "cpu_id": target}),
        EventKind::Kvm(Kvm::Entry { vcpu }) => json!({"vcpu_id": vcpu}),
        EventKind::Kvm(Kvm::Exit { vcpu, reason }) => {
            json!({"exit_reason": reason.code, "isa": reason.isa, "vcpu_id": vcpu})
        }
        EventKind::Nmi { delta } => json!({"delta_ns": delta}),
        EventKind::Signal(s) => json!({"sig": s.sig, "code": s.code, "comm": s.comm, "pid": s.tid}),
        EventKind::Marker(text) => json!({"buf": text}),
        EventKind::Function { name, caller } if caller.is_empty() => json!({"function": name}),
        EventKind::Function { name, caller } => json!({"function": name, "caller": caller}),
        EventKind::StackFrame { name } => json!({"function": name}),
        EventKind::FunctionEntry { name, depth } => json!({"function": name, "depth": depth}),
        EventKind::FunctionExit { name, depth, duration } => {
            json!({"function": name, "depth": depth, "duration": duration})
        }
        EventKind::Timerlat(sample) => {
            let context = match sample.context {
                TimerlatContext::Irq => "irq",
                TimerlatContext::Thread => "thread",
                TimerlatContext::UserReturn => "user_return",
            };
            json!({"seqnum": sample.seq, "context": context, "timer_latency": sample.latency})
        }
        EventKind::Noise(noise) => interference(&noise),
        EventKind::OsnoiseSample(s) => json!({
            "runtime": s.runtime, "noise": s.noise, "max_sample": s.max_sample, "hw_count": s.hw_count,
            "nmi_count": s.nmi_count, "irq_count": s.irq_count, "softirq_count": s.softirq_count,
            "thread_count": s.thread_count,
        }),
        EventKind::OsnoiseThreshold { start, duration, interferences } => {
            json!({"start": start, "duration": duration, "interference": interferences})
        }
        EventKind::Preemptirq { caller, .. } => json!({"caller": caller}),
        EventKind::Hwlat { inner, outer } => json!({"duration": inner, "outer_duration": outer}),
        // Null where the kernel did not count.
        EventKind::Lost { count, since, .. } => json!({"count": count, "since": since}),
        EventKind::Other => json!({}),
    }
}

fn woken(wake: &Wake) -> Value {
    json!({"comm": wake.comm, "pid": wake.tid, "prio": wake.prio, "target_cpu": wake.target_cpu})
}

fn interference(noise: &Noise) -> Value {
    let mut value = json!({"start": noise.start, "duration": noise.duration});
    let id = if noise.source == NoiseSource::Thread { "pid" } else { "vector" };
    if noise.source != NoiseSource::Nmi
        && let Some(object) = value.as_object_mut()
    {
        object.insert("name".to_owned(), json!(noise.name));
        object.insert(id.to_owned(), noise.id.into());
    }
    value
}

fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Runnable => "runnable",
        TaskState::Preempted => "preempted",
        TaskState::Interruptible => "interruptible",
        TaskState::Uninterruptible => "uninterruptible",
        TaskState::Idle => "idle",
        TaskState::Dead => "dead",
        TaskState::Stopped => "stopped",
        TaskState::Traced => "traced",
        TaskState::Other => "other",
    }
}

/// An address: JSON's numbers do not hold 64 bits in every reader.
fn hex(address: u64) -> String {
    format!("0x{address:x}")
}
