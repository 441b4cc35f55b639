//! What stands behind the time: the event's name and fields, as the kernel's print formats have them.

use super::values::{one_line, seconds};
use crate::threads::Threads;
use crate::tracepoint::{Tracepoint, whole_us};
use std::fmt::Write;
use whylate_base::{Comm, Priority, Tid};
use whylate_events::{
    BlockedReason, ContentionFlags, CpuCall, Event, EventKind, Kvm, KvmExitReason, Noise, NoiseSource,
    Packet, PacketStep, Symbol, TaskState, TimerlatContext, Wake, WorkStep,
};
use whylate_ftrace::encode::vector_number;
use whylate_ledger::softirq_name;

/// Appends `sched_wakeup: comm=rtload pid=312 prio=49 target_cpu=001`.
pub(super) fn print(event: &Event, threads: &Threads, line: &mut String) {
    let point = Tracepoint::of(&event.kind);
    // The osnoise and timerlat tracers' own lines have no name before them.
    match event.kind {
        EventKind::Timerlat(sample) => {
            let context = match sample.context {
                TimerlatContext::Irq => "irq",
                TimerlatContext::Thread => "thread",
                TimerlatContext::UserReturn => "user-ret",
            };
            _ = write!(
                line,
                "#{:<5} context {context:>6} timer_latency {:>9} ns",
                sample.seq, sample.latency.0
            );
            return;
        }
        EventKind::Marker(text) => {
            _ = write!(line, "tracing_mark_write: {}", one_line(text.as_str()));
            return;
        }
        _ => {}
    }
    _ = write!(line, "{}: ", point.name);
    // Writing to a string does not fail.
    _ = match event.kind {
        EventKind::Switch(s) => write!(
            line,
            "prev_comm={} prev_pid={} prev_prio={} prev_state={} ==> next_comm={} next_pid={} next_prio={}",
            comm(s.prev_comm),
            s.prev_tid,
            s.prev_prio.0,
            state(s.prev_state),
            comm(s.next_comm),
            s.next_tid,
            s.next_prio.0
        ),
        EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => woken(&wake, line),
        EventKind::Migrate { tid, from, to } => {
            write!(line, "{} orig_cpu={from} dest_cpu={to}", Known(tid, threads).with_prio())
        }
        EventKind::Fork { parent, child, comm: name } => {
            write!(line, "{} child_comm={} child_pid={child}", Known(parent, threads).alone(), comm(name))
        }
        EventKind::Exec { old, tid } => write!(line, "filename=<...> pid={tid} old_pid={old}"),
        EventKind::Exit { tid } => write!(line, "{}", Known(tid, threads).with_prio()),
        EventKind::PiSetprio { tid, old, new } => {
            write!(line, "{} oldprio={} newprio={}", Known(tid, threads).alone(), old.0, new.0)
        }
        EventKind::BlockedReason(BlockedReason { tid, io_wait, caller }) => {
            write!(line, "pid={tid} iowait={} caller={caller}", u8::from(io_wait))
        }
        EventKind::IrqEntry { irq, name } => write!(line, "irq={irq} name={}", one_line(name.as_str())),
        EventKind::IrqExit { irq } => write!(line, "irq={irq}"),
        EventKind::VectorEntry { name } | EventKind::VectorExit { name } => {
            write!(line, "vector={}", vector_number(name.as_str()))
        }
        EventKind::SoftirqRaise { vec }
        | EventKind::SoftirqEntry { vec }
        | EventKind::SoftirqExit { vec } => {
            write!(line, "vec={vec} [action={}]", softirq_name(vec))
        }
        EventKind::SyscallEnter(call) => {
            let [a, b, c, d, e, f] = call.args;
            write!(line, "NR {} ({a:x}, {b:x}, {c:x}, {d:x}, {e:x}, {f:x})", call.nr)
        }
        EventKind::SyscallExit(call) => write!(line, "NR {} = {}", call.nr, call.ret),
        EventKind::PageFault(fault) => {
            write!(
                line,
                "address=0x{:x} ip=0x{:x} error_code=0x{:x}",
                fault.address, fault.ip, fault.error_code
            )
        }
        EventKind::ContentionBegin { lock, flags } => {
            write!(line, "{lock:016x} (flags={})", lock_flags(flags))
        }
        EventKind::ContentionEnd { lock, ret } => write!(line, "{lock:016x} (ret={ret})"),
        EventKind::CpuIdle { state } => {
            write!(line, "state={} cpu_id={}", state.unwrap_or(u32::MAX), event.cpu)
        }
        EventKind::Nmi { delta } => write!(line, "delta_ns: {}", delta.0),
        EventKind::NapiPoll { dev, work, budget } => write!(
            line,
            "napi poll on napi struct <...> for device {} work {work} budget {budget}",
            one_line(dev.as_str())
        ),
        EventKind::Packet(Packet { skb, len, step: PacketStep::Copied, .. }) => {
            write!(line, "skbaddr={skb:016x} len={len}")
        }
        EventKind::Packet(packet) => write!(
            line,
            "dev={} skbaddr={:016x} len={}",
            one_line(packet.dev.as_str()),
            packet.skb,
            packet.len
        ),
        EventKind::Work(work) => match work.step {
            WorkStep::Queued => {
                write!(line, "work struct={:016x} function={}", work.work, function(work.function))
            }
            WorkStep::Activated => {
                write!(line, "work struct {:016x} function={}", work.work, function(work.function))
            }
            WorkStep::Started | WorkStep::Ended => {
                write!(line, "work struct {:016x}: function {}", work.work, function(work.function))
            }
        },
        EventKind::CpuCall(CpuCall::Sent { target, from }) => {
            write!(line, "cpu={target} callsite={}", function(from))
        }
        EventKind::CpuCall(CpuCall::Queued { target, function: called }) => {
            write!(line, "cpu={target} func={}", function(called))
        }
        EventKind::CpuCall(CpuCall::Started { function: called } | CpuCall::Ended { function: called }) => {
            write!(line, "func={}", function(called))
        }
        EventKind::CpuFrequency { khz, target } => write!(line, "state={khz} cpu_id={target}"),
        EventKind::Kvm(Kvm::Entry { vcpu }) => write!(line, "vcpu_id={}", vcpu.unwrap_or(u32::MAX)),
        EventKind::Kvm(Kvm::Exit { vcpu, reason: KvmExitReason { isa, code } }) => {
            write!(line, "exit_reason={code} isa={isa} vcpu_id={}", vcpu.unwrap_or(u32::MAX))
        }
        EventKind::Signal(s) => {
            write!(line, "sig={} code={} comm={} pid={}", s.sig, s.code, comm(s.comm), s.tid)
        }
        _ => timers_and_tracers(event, line),
    };
}

fn timers_and_tracers(event: &Event, line: &mut String) -> std::fmt::Result {
    match event.kind {
        EventKind::HrtimerStart(start) => write!(
            line,
            "hrtimer={:016x} function={} expires={} softexpires={}",
            start.hrtimer,
            function(start.function),
            start.expires.0,
            start.softexpires.0
        ),
        EventKind::HrtimerCancel { hrtimer } | EventKind::HrtimerExpireExit { hrtimer } => {
            write!(line, "hrtimer={hrtimer:016x}")
        }
        EventKind::HrtimerExpire(expiry) => {
            let name = function(expiry.function);
            write!(line, "hrtimer={:016x} function={name} now={}", expiry.hrtimer, expiry.now.0)
        }
        EventKind::TimerExpire { timer, function: name } => {
            write!(line, "timer={timer:016x} function={}", function(name))
        }
        EventKind::TimerExpireExit { timer } => write!(line, "timer={timer:016x}"),
        EventKind::Function { name, caller } if caller.is_empty() => write!(line, "{}", function(name)),
        EventKind::Function { name, caller } => write!(line, "{} <-- {}", function(name), function(caller)),
        EventKind::FunctionEntry { name, depth } => {
            write!(line, "                  |  {:indent$}{}() {{", "", function(name), indent = indent(depth))
        }
        EventKind::FunctionExit { name, depth, duration } => {
            let us = format!("{}.{:03} us", duration.0 / 1000, duration.0.unsigned_abs() % 1000);
            write!(line, "  {us:>14}  |  {:indent$}}}", "", indent = indent(depth))?;
            if name.is_empty() { Ok(()) } else { write!(line, " /* {name} */") }
        }
        EventKind::Noise(noise) => interference(&noise, line),
        EventKind::OsnoiseSample(s) => write!(
            line,
            "runtime:{} noise:{} max_sample:{} hw:{} nmi:{} irq:{} softirq:{} thread:{}",
            whole_us(s.runtime),
            whole_us(s.noise),
            whole_us(s.max_sample),
            s.hw_count,
            s.nmi_count,
            s.irq_count,
            s.softirq_count,
            s.thread_count
        ),
        EventKind::OsnoiseThreshold { start, duration, interferences } => {
            write!(line, "start {} duration {} ns interference {interferences}", seconds(start), duration.0)
        }
        EventKind::Preemptirq { caller, .. } => write!(line, "caller={}", function(caller)),
        EventKind::Hwlat { inner, outer } => {
            write!(line, "inner:{} outer:{}", whole_us(inner), whole_us(outer))
        }
        // A name that marks the end.
        _ => Ok(()),
    }
}

/// `local_timer:236 start 5.000001000 duration 1204 ns`
fn interference(noise: &Noise, line: &mut String) -> std::fmt::Result {
    if noise.source != NoiseSource::Nmi {
        write!(line, "{}:{} ", one_line(noise.name.as_str()), noise.id)?;
    }
    write!(line, "start {} duration {} ns", seconds(noise.start), noise.duration.0)
}

fn woken(wake: &Wake, line: &mut String) -> std::fmt::Result {
    let (name, cpu) = (comm(wake.comm), wake.target_cpu.0);
    write!(line, "comm={name} pid={} prio={} target_cpu={cpu:03}", wake.tid, wake.prio.0)
}

/// A thread that the event names by its id alone.
struct Known<'t>(Tid, &'t Threads);

impl Known<'_> {
    fn alone(&self) -> String {
        let name = self.1.comm(self.0);
        let name = if name.is_empty() { "<...>".to_owned() } else { comm(name) };
        format!("comm={name} pid={}", self.0)
    }

    fn with_prio(&self) -> String {
        let prio = self.1.priority(self.0).map_or_else(|| "?".to_owned(), |Priority(prio)| prio.to_string());
        format!("{} prio={prio}", self.alone())
    }
}

fn comm(comm: Comm) -> String {
    one_line(comm.as_str())
}

fn function(name: Symbol) -> String {
    if name.is_empty() { "0x0".to_owned() } else { name.to_string() }
}

fn indent(depth: u32) -> usize {
    2 * depth.min(64) as usize
}

/// The letters of `TASK_STATE_TO_CHAR_STR`; what is none of them all is shown as parked.
fn state(state: TaskState) -> &'static str {
    match state {
        TaskState::Runnable => "R",
        TaskState::Preempted => "R+",
        TaskState::Interruptible => "S",
        TaskState::Uninterruptible => "D",
        TaskState::Idle => "I",
        TaskState::Dead => "X",
        TaskState::Stopped => "T",
        TaskState::Traced => "t",
        TaskState::Other => "P",
    }
}

fn lock_flags(flags: ContentionFlags) -> String {
    const NAMES: [(u32, &str); 6] =
        [(1, "SPIN"), (2, "READ"), (4, "WRITE"), (8, "RT"), (0x10, "PERCPU"), (0x20, "MUTEX")];
    if flags.0 & !0x3f != 0 {
        return format!("0x{:x}", flags.0);
    }
    let names: Vec<&str> =
        NAMES.iter().filter(|(bit, _)| flags.0 & bit != 0).map(|&(_, name)| name).collect();
    names.join("|")
}
