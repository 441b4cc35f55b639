//! The kernel's name of each typed event, and this project's names of kinds.

use std::borrow::Cow;
use whylate_base::Ns;
use whylate_events::{CpuCall, EventKind, Kind, Kvm, NoiseSource, Preemptirq};

/// A tracepoint by group and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoint<'n> {
    /// `sched`
    pub group: &'n str,
    /// `sched_switch`
    pub name: Cow<'n, str>,
}

impl<'n> Tracepoint<'n> {
    /// Of a group's event.
    pub fn new(group: &'n str, name: &'n str) -> Tracepoint<'n> {
        Tracepoint { group, name: Cow::Borrowed(name) }
    }

    /// The tracepoint that a typed event comes from.
    pub fn of(kind: &EventKind) -> Tracepoint<'static> {
        let (group, name) = match kind {
            EventKind::VectorEntry { name } => return vector(name.as_str(), "entry"),
            EventKind::VectorExit { name } => return vector(name.as_str(), "exit"),
            EventKind::Switch(_) => ("sched", "sched_switch"),
            EventKind::Waking(_) => ("sched", "sched_waking"),
            EventKind::Wakeup { new: false, .. } => ("sched", "sched_wakeup"),
            EventKind::Wakeup { new: true, .. } => ("sched", "sched_wakeup_new"),
            EventKind::Migrate { .. } => ("sched", "sched_migrate_task"),
            EventKind::Fork { .. } => ("sched", "sched_process_fork"),
            EventKind::Exec { .. } => ("sched", "sched_process_exec"),
            EventKind::Exit { .. } => ("sched", "sched_process_exit"),
            EventKind::PiSetprio { .. } => ("sched", "sched_pi_setprio"),
            EventKind::BlockedReason(_) => ("sched", "sched_blocked_reason"),
            EventKind::IrqEntry { .. } => ("irq", "irq_handler_entry"),
            EventKind::IrqExit { .. } => ("irq", "irq_handler_exit"),
            EventKind::SoftirqRaise { .. } => ("irq", "softirq_raise"),
            EventKind::SoftirqEntry { .. } => ("irq", "softirq_entry"),
            EventKind::SoftirqExit { .. } => ("irq", "softirq_exit"),
            EventKind::HrtimerStart(_) => ("timer", "hrtimer_start"),
            EventKind::HrtimerCancel { .. } => ("timer", "hrtimer_cancel"),
            EventKind::HrtimerExpire(_) => ("timer", "hrtimer_expire_entry"),
            EventKind::HrtimerExpireExit { .. } => ("timer", "hrtimer_expire_exit"),
            EventKind::TimerExpire { .. } => ("timer", "timer_expire_entry"),
            EventKind::TimerExpireExit { .. } => ("timer", "timer_expire_exit"),
            EventKind::SyscallEnter(_) => ("raw_syscalls", "sys_enter"),
            EventKind::SyscallExit(_) => ("raw_syscalls", "sys_exit"),
            EventKind::PageFault(fault) if fault.user => ("exceptions", "page_fault_user"),
            EventKind::PageFault(_) => ("exceptions", "page_fault_kernel"),
            EventKind::ContentionBegin { .. } => ("lock", "contention_begin"),
            EventKind::ContentionEnd { .. } => ("lock", "contention_end"),
            EventKind::CpuIdle { .. } => ("power", "cpu_idle"),
            EventKind::Nmi { .. } => ("nmi", "nmi_handler"),
            EventKind::Signal(_) => ("signal", "signal_generate"),
            EventKind::Marker(_) => ("ftrace", "print"),
            EventKind::Function { .. } => ("ftrace", "function"),
            EventKind::FunctionEntry { .. } => ("ftrace", "funcgraph_entry"),
            EventKind::FunctionExit { .. } => ("ftrace", "funcgraph_exit"),
            EventKind::StackFrame { .. } => ("ftrace", "kernel_stack"),
            EventKind::Timerlat(_) => ("ftrace", "timerlat"),
            EventKind::Noise(noise) => match noise.source {
                NoiseSource::Nmi => ("osnoise", "nmi_noise"),
                NoiseSource::Irq => ("osnoise", "irq_noise"),
                NoiseSource::Softirq => ("osnoise", "softirq_noise"),
                NoiseSource::Thread => ("osnoise", "thread_noise"),
            },
            EventKind::OsnoiseSample(_) => ("ftrace", "osnoise"),
            EventKind::OsnoiseThreshold { .. } => ("osnoise", "sample_threshold"),
            EventKind::Preemptirq { what, disables, .. } => {
                let name = match (what, disables) {
                    (Preemptirq::Interrupts, true) => "irq_disable",
                    (Preemptirq::Interrupts, false) => "irq_enable",
                    (Preemptirq::Preemption, true) => "preempt_disable",
                    (Preemptirq::Preemption, false) => "preempt_enable",
                };
                ("preemptirq", name)
            }
            EventKind::Hwlat { .. } => ("ftrace", "hwlat"),
            EventKind::NapiPoll { .. } => ("napi", "napi_poll"),
            EventKind::Packet(packet) => packet.step.tracepoint(),
            EventKind::Work(work) => ("workqueue", work.step.tracepoint()),
            EventKind::CpuCall(CpuCall::Sent { .. }) => ("ipi", "ipi_send_cpu"),
            EventKind::CpuCall(CpuCall::Queued { .. }) => ("csd", "csd_queue_cpu"),
            EventKind::CpuCall(CpuCall::Started { .. }) => ("csd", "csd_function_entry"),
            EventKind::CpuCall(CpuCall::Ended { .. }) => ("csd", "csd_function_exit"),
            EventKind::CpuFrequency { .. } => ("power", "cpu_frequency"),
            EventKind::Kvm(Kvm::Entry { .. }) => ("kvm", "kvm_entry"),
            EventKind::Kvm(Kvm::Exit { .. }) => ("kvm", "kvm_exit"),
            EventKind::Lost { .. } => ("whylate", "lost"),
            EventKind::Other => ("whylate", "other"),
        };
        Tracepoint::new(group, name)
    }
}

fn vector(name: &str, end: &str) -> Tracepoint<'static> {
    Tracepoint { group: "irq_vectors", name: Cow::Owned(format!("{name}_{end}")) }
}

/// The summaries of the osnoise and hwlat tracers are in microseconds, of which the kernel cuts off the rest
/// (`time_to_us`, `kernel/trace/trace_osnoise.c`, `trace_hwlat.c`).
pub(crate) fn whole_us(time: Ns) -> u64 {
    u64::try_from(time.0 / 1_000).unwrap_or(0)
}

/// A kind's name on the command line: `switch`, `page-fault`.
pub fn kind_name(kind: Kind) -> String {
    let mut name = String::new();
    for c in format!("{kind:?}").chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_that_differ() {
        let mut names: Vec<String> = Kind::ALL.into_iter().map(kind_name).collect();
        assert!(names.contains(&"pi-setprio".to_owned()) && names.contains(&"cpu-idle".to_owned()));
        names.dedup();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}
