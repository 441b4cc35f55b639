//! The interrupts of a device: their CPUs, and the policy and CPUs of their threads.

use super::error::RunError;
use super::journal::RunJournal;
use super::setting::ThreadRule;
use crate::select;
use std::fs;
use whylate_base::{Policy, glob};
use whylate_host::ThreadStat;
use whylate_sys::SchedParams;
use whylate_tuning::{Target, TargetError, ThreadId};

/// Gives the interrupts of a device what the rule has, and returns a sentence for each.
///
/// # Errors
/// If there are none of that name, or the kernel refuses one.
pub(super) fn apply(rule: &ThreadRule, journal: &mut RunJournal) -> Result<Vec<String>, RunError> {
    let irqs = interrupts(rule)?;
    let failed = |error: TargetError| RunError::Input(format!("--irq {}: {error}", rule.pattern));
    let mut became = Vec::new();
    for irq in irqs {
        if let Some(cpus) = &rule.setting.cpus {
            let path = format!("/proc/irq/{irq}/smp_affinity_list");
            journal.set(Target::Tunable { path }, &cpus.to_string()).map_err(failed)?;
            became.push(format!("interrupt {irq}: CPUs {cpus}"));
        }
        for thread in threads(irq) {
            if let Some(params) = &rule.setting.scheduling {
                let target = Target::ThreadPolicy { thread: thread.clone() };
                journal.set(target, &words(params)).map_err(failed)?;
                became.push(format!("{thread}: {params}"));
            }
        }
    }
    Ok(became)
}

/// The interrupts that a rule means.
///
/// # Errors
/// If there are none, or none has a thread to give a priority.
pub(super) fn interrupts(rule: &ThreadRule) -> Result<Vec<u32>, RunError> {
    let irqs = of_device(&rule.pattern);
    if irqs.is_empty() {
        return Err(RunError::Input(format!(
            "--irq {}: no interrupt has a device of this name; /proc/interrupts lists them",
            rule.pattern
        )));
    }
    if rule.setting.scheduling.is_some() && irqs.iter().all(|&irq| threads(irq).is_empty()) {
        return Err(RunError::Input(format!(
            "--irq {}: its interrupts have no threads to give a priority: they have them on PREEMPT_RT, and with the kernel \
             parameter threadirqs",
            rule.pattern
        )));
    }
    Ok(irqs)
}

/// The numbers of the interrupts with a device of this name: of the directories in /proc/irq/N
/// (Documentation/filesystems/proc.rst).
fn of_device(pattern: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc/irq").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_device = |irq: &u32| {
        let inside = fs::read_dir(format!("/proc/irq/{irq}")).into_iter().flatten().flatten();
        let mut devices = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        devices.any(|entry| entry.file_name().to_str().is_some_and(|name| glob(pattern, name)))
    };
    let mut irqs: Vec<u32> = numbers.filter(|irq| *irq.to_string() == *pattern || has_device(irq)).collect();
    irqs.sort_unstable();
    irqs
}

/// Its threads: `irq/N-NAME`, and `irq/N-s-NAME` of a second handler (kernel/irq/manage.c). Their CPUs follow the interrupt's.
fn threads(irq: u32) -> Vec<ThreadId> {
    let prefix = format!("irq/{irq}-");
    let threads = select::all_threads().into_iter().filter(|thread| thread.comm.starts_with(&prefix));
    threads
        .filter_map(|thread| {
            let stat = fs::read(format!("/proc/{}/task/{}/stat", thread.pid, thread.tid)).ok()?;
            let started = ThreadStat::parse(&stat)?.started()?;
            let name = format!("[{}]", thread.comm);
            Some(ThreadId { pid: thread.pid.0, tid: thread.tid.0, started, name })
        })
        .collect()
}

/// As whylate-tuning writes a policy.
fn words(params: &SchedParams) -> String {
    match params.policy {
        Policy::Fifo | Policy::Rr => format!("{} {}", params.policy.name(), params.priority),
        Policy::Other | Policy::Batch => format!("{} {}", params.policy.name(), params.nice),
        policy => policy.name().to_owned(),
    }
}
