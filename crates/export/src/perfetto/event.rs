//! A typed event as an `FtraceEvent`.

use super::packets::time;
use super::proto::Message;
use crate::tracepoint::{Tracepoint, whole_us};
use std::collections::HashMap;
use whylate_base::{Comm, Tid};
use whylate_events::{
    BlockedReason, CpuCall, Event, EventKind, Kvm, NoiseSource, Symbol, TaskState, TimerlatContext, Wake,
};
use whylate_ftrace::encode::vector_number;

/// `FtraceEventBundle.event`
const EVENT: u32 = 2;

/// Fields of `FtraceEvent`: those of every event, and one for each type.
mod ftrace {
    pub(super) const TIMESTAMP: u32 = 1;
    pub(super) const PID: u32 = 2;
    pub(super) const PRINT: u32 = 3;
    pub(super) const SCHED_SWITCH: u32 = 4;
    pub(super) const CPU_IDLE: u32 = 13;
    pub(super) const SCHED_WAKEUP: u32 = 17;
    pub(super) const SCHED_BLOCKED_REASON: u32 = 18;
    pub(super) const SCHED_WAKING: u32 = 20;
    pub(super) const SOFTIRQ_ENTRY: u32 = 24;
    pub(super) const SOFTIRQ_EXIT: u32 = 25;
    pub(super) const SOFTIRQ_RAISE: u32 = 26;
    pub(super) const IRQ_HANDLER_ENTRY: u32 = 36;
    pub(super) const IRQ_HANDLER_EXIT: u32 = 37;
    pub(super) const SCHED_WAKEUP_NEW: u32 = 114;
    pub(super) const SCHED_PROCESS_EXEC: u32 = 237;
    pub(super) const SCHED_PROCESS_EXIT: u32 = 238;
    pub(super) const SCHED_PROCESS_FORK: u32 = 239;
    pub(super) const SIGNAL_GENERATE: u32 = 325;
    pub(super) const GENERIC: u32 = 327;
    pub(super) const SYS_ENTER: u32 = 329;
    pub(super) const SYS_EXIT: u32 = 330;
    pub(super) const SCHED_PI_SETPRIO: u32 = 353;
    pub(super) const FUNCGRAPH_ENTRY: u32 = 437;
    pub(super) const FUNCGRAPH_EXIT: u32 = 438;
    pub(super) const SCHED_MIGRATE_TASK: u32 = 491;
    pub(super) const HRTIMER_START: u32 = 551;
    pub(super) const HRTIMER_CANCEL: u32 = 552;
    pub(super) const HRTIMER_EXPIRE_ENTRY: u32 = 553;
    pub(super) const HRTIMER_EXPIRE_EXIT: u32 = 554;
    pub(super) const TIMER_EXPIRE_ENTRY: u32 = 557;
    pub(super) const TIMER_EXPIRE_EXIT: u32 = 558;
    pub(super) const LOCAL_TIMER_ENTRY: u32 = 559;
    pub(super) const LOCAL_TIMER_EXIT: u32 = 560;
}

/// What the bits of `prev_state` mean to Perfetto's reader, which goes by the kernel's release: they moved in
/// 4.14, and without a release it takes the kernel for an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateBits {
    /// 4.14 and later.
    Today,
    /// 4.8 to 4.13: the preempted mark is 0x1000.
    Old,
    /// Before, or no release: it is 0x800.
    Oldest,
}

impl StateBits {
    pub(super) fn of_release(release: Option<&str>) -> StateBits {
        let mut numbers = release.unwrap_or_default().split(|c: char| !c.is_ascii_digit());
        let mut number = || numbers.next().and_then(|number| number.parse::<u32>().ok());
        match (number(), number()) {
            (Some(major), Some(minor)) if (major, minor) >= (4, 14) => StateBits::Today,
            (Some(major), Some(minor)) if (major, minor) >= (4, 8) => StateBits::Old,
            _ => StateBits::Oldest,
        }
    }

    fn of(self, state: TaskState) -> u32 {
        match (state, self) {
            (TaskState::Runnable, _) => 0,
            (TaskState::Interruptible, _) => 0x1,
            (TaskState::Uninterruptible, _) => 0x2,
            (TaskState::Stopped, _) => 0x4,
            (TaskState::Traced, _) => 0x8,
            // Parked, and before that state had a bit of its own, to be woken to be killed alone.
            (TaskState::Other, StateBits::Today) => 0x40,
            (TaskState::Other, _) => 0x80,
            (TaskState::Dead, _) => 0x10,
            (TaskState::Preempted, StateBits::Today) => 0x100,
            (TaskState::Preempted, StateBits::Old) => 0x1000,
            (TaskState::Preempted, StateBits::Oldest) => 0x800,
            (TaskState::Idle, StateBits::Today) => 0x80,
            // Uninterruptible without being load.
            (TaskState::Idle, _) => 0x402,
        }
    }
}

/// Function names, which events refer to by number.
#[derive(Default)]
pub(super) struct Functions {
    ids: HashMap<Symbol, u64>,
    new: Vec<(u64, Symbol)>,
}

impl Functions {
    /// None for a function without a name.
    fn id(&mut self, name: Symbol) -> Option<u64> {
        if name.is_empty() {
            return None;
        }
        let next = self.ids.len() as u64 + 1;
        let new = &mut self.new;
        Some(*self.ids.entry(name).or_insert_with(|| {
            new.push((next, name));
            next
        }))
    }

    /// Those that were first named since the last call.
    pub(super) fn take_new(&mut self) -> Vec<(u64, Symbol)> {
        std::mem::take(&mut self.new)
    }
}

/// Appends `event` to a bundle; false when there is no form for it.
pub(super) fn write(
    event: &Event,
    states: StateBits,
    functions: &mut Functions,
    bundle: &mut Message,
) -> bool {
    if matches!(event.kind, EventKind::Other | EventKind::Lost { .. }) {
        return false;
    }
    bundle.message(EVENT, |out| {
        out.uint(ftrace::TIMESTAMP, time(event.ts));
        out.uint(ftrace::PID, event.context.tid.0 as u32);
        own(event, states, functions, out);
    });
    true
}

fn own(event: &Event, states: StateBits, functions: &mut Functions, out: &mut Message) {
    match event.kind {
        EventKind::Switch(s) => out.message(ftrace::SCHED_SWITCH, |m| {
            comm(m, 1, s.prev_comm);
            tid(m, 2, s.prev_tid);
            m.int(3, s.prev_prio.0);
            m.int(4, states.of(s.prev_state));
            comm(m, 5, s.next_comm);
            tid(m, 6, s.next_tid);
            m.int(7, s.next_prio.0);
        }),
        EventKind::Waking(wake) => out.message(ftrace::SCHED_WAKING, |m| woken(m, &wake)),
        EventKind::Wakeup { wake, new: false } => out.message(ftrace::SCHED_WAKEUP, |m| woken(m, &wake)),
        EventKind::Wakeup { wake, new: true } => out.message(ftrace::SCHED_WAKEUP_NEW, |m| woken(m, &wake)),
        EventKind::Migrate { tid: who, from, to } => out.message(ftrace::SCHED_MIGRATE_TASK, |m| {
            tid(m, 2, who);
            m.int(4, from.0);
            m.int(5, to.0);
        }),
        EventKind::Fork { parent, child, comm: name } => out.message(ftrace::SCHED_PROCESS_FORK, |m| {
            tid(m, 2, parent);
            comm(m, 3, name);
            tid(m, 4, child);
        }),
        EventKind::Exec { old, tid: who } => out.message(ftrace::SCHED_PROCESS_EXEC, |m| {
            tid(m, 2, who);
            tid(m, 3, old);
        }),
        EventKind::Exit { tid: who } => out.message(ftrace::SCHED_PROCESS_EXIT, |m| tid(m, 2, who)),
        EventKind::PiSetprio { tid: who, old, new } => out.message(ftrace::SCHED_PI_SETPRIO, |m| {
            m.int(2, new.0);
            m.int(3, old.0);
            tid(m, 4, who);
        }),
        EventKind::BlockedReason(BlockedReason { tid: who, io_wait, .. }) => {
            out.message(ftrace::SCHED_BLOCKED_REASON, |m| {
                tid(m, 1, who);
                m.int(3, i32::from(io_wait));
            })
        }
        EventKind::IrqEntry { irq, name } => out.message(ftrace::IRQ_HANDLER_ENTRY, |m| {
            m.int(1, irq as i32);
            m.text(2, name.as_str());
        }),
        EventKind::IrqExit { irq } => out.message(ftrace::IRQ_HANDLER_EXIT, |m| m.int(1, irq as i32)),
        EventKind::SoftirqRaise { vec } => out.message(ftrace::SOFTIRQ_RAISE, |m| m.uint(1, vec)),
        EventKind::SoftirqEntry { vec } => out.message(ftrace::SOFTIRQ_ENTRY, |m| m.uint(1, vec)),
        EventKind::SoftirqExit { vec } => out.message(ftrace::SOFTIRQ_EXIT, |m| m.uint(1, vec)),
        EventKind::VectorEntry { name } if name.as_str() == "local_timer" => {
            out.message(ftrace::LOCAL_TIMER_ENTRY, |m| m.int(1, vector_number("local_timer")));
        }
        EventKind::VectorExit { name } if name.as_str() == "local_timer" => {
            out.message(ftrace::LOCAL_TIMER_EXIT, |m| m.int(1, vector_number("local_timer")));
        }
        EventKind::HrtimerStart(start) => out.message(ftrace::HRTIMER_START, |m| {
            m.uint(1, start.hrtimer);
            function(m, 2, functions.id(start.function));
            m.int(3, start.expires.0);
            m.int(4, start.softexpires.0);
        }),
        EventKind::HrtimerCancel { hrtimer } => out.message(ftrace::HRTIMER_CANCEL, |m| m.uint(1, hrtimer)),
        EventKind::HrtimerExpire(expiry) => out.message(ftrace::HRTIMER_EXPIRE_ENTRY, |m| {
            m.uint(1, expiry.hrtimer);
            m.int(2, expiry.now.0);
            function(m, 3, functions.id(expiry.function));
        }),
        EventKind::HrtimerExpireExit { hrtimer } => {
            out.message(ftrace::HRTIMER_EXPIRE_EXIT, |m| m.uint(1, hrtimer));
        }
        EventKind::TimerExpire { timer, function: name } => out.message(ftrace::TIMER_EXPIRE_ENTRY, |m| {
            m.uint(1, timer);
            function(m, 3, functions.id(name));
        }),
        EventKind::TimerExpireExit { timer } => out.message(ftrace::TIMER_EXPIRE_EXIT, |m| m.uint(1, timer)),
        EventKind::SyscallEnter(call) => out.message(ftrace::SYS_ENTER, |m| {
            m.int(1, call.nr);
            call.args.iter().for_each(|&arg| m.uint(2, arg));
        }),
        EventKind::SyscallExit(call) => out.message(ftrace::SYS_EXIT, |m| {
            m.int(1, call.nr);
            m.int(2, call.ret);
        }),
        EventKind::CpuIdle { state } => out.message(ftrace::CPU_IDLE, |m| {
            m.uint(1, state.unwrap_or(u32::MAX));
            m.uint(2, event.cpu.0);
        }),
        EventKind::Signal(signal) => out.message(ftrace::SIGNAL_GENERATE, |m| {
            m.int(1, signal.code);
            comm(m, 2, signal.comm);
            tid(m, 4, signal.tid);
            m.int(6, signal.sig);
        }),
        EventKind::Marker(text) => out.message(ftrace::PRINT, |m| m.text(2, &format!("{text}\n"))),
        EventKind::FunctionEntry { name, depth } => out.message(ftrace::FUNCGRAPH_ENTRY, |m| {
            m.int(1, depth);
            function(m, 2, functions.id(name));
        }),
        EventKind::FunctionExit { name, depth, duration } => out.message(ftrace::FUNCGRAPH_EXIT, |m| {
            m.uint(1, time(event.ts - duration));
            m.int(2, depth);
            function(m, 3, functions.id(name));
            m.uint(5, time(event.ts));
        }),
        _ => out.message(ftrace::GENERIC, |m| generic(m, &event.kind)),
    }
}

fn comm(m: &mut Message, field: u32, comm: Comm) {
    m.text(field, comm.as_str());
}

fn tid(m: &mut Message, field: u32, tid: Tid) {
    m.int(field, tid.0);
}

fn function(m: &mut Message, field: u32, id: Option<u64>) {
    if let Some(id) = id {
        m.uint(field, id);
    }
}

fn woken(m: &mut Message, wake: &Wake) {
    comm(m, 1, wake.comm);
    tid(m, 2, wake.tid);
    m.int(3, wake.prio.0);
    m.int(5, wake.target_cpu.0);
}

/// An event that Perfetto has no type for: its name, and its fields by the kernel's names.
fn generic(m: &mut Message, kind: &EventKind) {
    m.text(1, &Tracepoint::of(kind).name);
    let mut text = |name: &str, value: &str| {
        m.message(2, |field| {
            field.text(1, name);
            field.text(3, value);
        });
    };
    match kind {
        EventKind::Function { name, caller } => {
            text("function", name.as_str());
            if !caller.is_empty() {
                text("caller", caller.as_str());
            }
            return;
        }
        EventKind::StackFrame { name } => return text("function", name.as_str()),
        EventKind::Preemptirq { caller, .. } => return text("caller", caller.as_str()),
        EventKind::NapiPoll { dev, .. } => text("dev_name", dev.as_str()),
        EventKind::Packet(packet) if !packet.dev.is_empty() => text("name", packet.dev.as_str()),
        EventKind::Work(work) => text("function", work.function.as_str()),
        EventKind::CpuCall(CpuCall::Sent { from, .. }) => text("callsite", from.as_str()),
        EventKind::CpuCall(
            CpuCall::Queued { function, .. } | CpuCall::Started { function } | CpuCall::Ended { function },
        ) => text("func", function.as_str()),
        EventKind::Noise(noise) => match noise.source {
            NoiseSource::Irq => text("desc", noise.name.as_str()),
            NoiseSource::Thread => text("comm", noise.name.as_str()),
            NoiseSource::Nmi | NoiseSource::Softirq => {}
        },
        _ => {}
    }
    let mut number = |name: &str, value: u64| {
        m.message(2, |field| {
            field.text(1, name);
            field.uint(5, value);
        });
    };
    match *kind {
        EventKind::VectorEntry { name } | EventKind::VectorExit { name } => {
            number("vector", vector_number(name.as_str()).into());
        }
        EventKind::PageFault(fault) => {
            number("address", fault.address);
            number("ip", fault.ip);
            number("error_code", fault.error_code);
        }
        EventKind::ContentionBegin { lock, flags } => {
            number("lock_addr", lock);
            number("flags", flags.0.into());
        }
        EventKind::ContentionEnd { lock, ret } => {
            number("lock_addr", lock);
            // Its sign does not fit; the kernel's own raw form has it as 32 bits.
            number("ret", (ret as u32).into());
        }
        EventKind::NapiPoll { work, budget, .. } => {
            number("work", (work as u32).into());
            number("budget", (budget as u32).into());
        }
        EventKind::Packet(packet) => {
            number("skbaddr", packet.skb);
            number("len", packet.len.into());
        }
        EventKind::Work(work) => number("work", work.work),
        EventKind::CpuCall(CpuCall::Sent { target, .. } | CpuCall::Queued { target, .. }) => {
            number("cpu", target.0.into());
        }
        EventKind::CpuFrequency { khz, target } => {
            number("state", khz.into());
            number("cpu_id", target.0.into());
        }
        EventKind::Kvm(Kvm::Entry { vcpu }) => number("vcpu_id", vcpu.unwrap_or(u32::MAX).into()),
        EventKind::Kvm(Kvm::Exit { vcpu, reason }) => {
            number("exit_reason", reason.code.into());
            number("isa", reason.isa.into());
            number("vcpu_id", vcpu.unwrap_or(u32::MAX).into());
        }
        EventKind::Nmi { delta } => number("delta_ns", time(delta)),
        EventKind::Timerlat(sample) => {
            number("seqnum", sample.seq.into());
            // IRQ_CONTEXT, THREAD_CONTEXT and THREAD_URET of kernel/trace/trace_osnoise.c.
            number(
                "context",
                match sample.context {
                    TimerlatContext::Irq => 0,
                    TimerlatContext::Thread => 1,
                    TimerlatContext::UserReturn => 2,
                },
            );
            number("timer_latency", time(sample.latency));
        }
        EventKind::Noise(noise) => {
            match noise.source {
                NoiseSource::Irq | NoiseSource::Softirq => number("vector", noise.id.into()),
                NoiseSource::Thread => number("pid", noise.id.into()),
                NoiseSource::Nmi => {}
            }
            number("start", time(noise.start));
            number("duration", time(noise.duration));
        }
        EventKind::OsnoiseSample(s) => {
            number("runtime", whole_us(s.runtime));
            number("noise", whole_us(s.noise));
            number("max_sample", whole_us(s.max_sample));
            let counts = [
                ("hw_count", s.hw_count),
                ("nmi_count", s.nmi_count),
                ("irq_count", s.irq_count),
                ("softirq_count", s.softirq_count),
                ("thread_count", s.thread_count),
            ];
            counts.into_iter().for_each(|(name, count)| number(name, count.into()));
        }
        EventKind::OsnoiseThreshold { start, duration, interferences } => {
            number("start", time(start));
            number("duration", time(duration));
            number("interference", interferences.into());
        }
        EventKind::Hwlat { inner, outer } => {
            number("duration", whole_us(inner));
            number("outer_duration", whole_us(outer));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_bits_go_by_the_release() {
        for (release, state, bits) in [
            (Some("6.1.0-18-rt-amd64"), TaskState::Preempted, 0x100),
            (Some("4.14.336"), TaskState::Idle, 0x80),
            (Some("4.9.0"), TaskState::Preempted, 0x1000),
            (Some("3.10.0"), TaskState::Preempted, 0x800),
            (None, TaskState::Idle, 0x402),
            (Some("nonsense"), TaskState::Runnable, 0),
        ] {
            assert_eq!(StateBits::of_release(release).of(state), bits, "{release:?} {state:?}");
        }
    }
}
