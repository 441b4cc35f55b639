//! Descriptions of threads, and which of them run before the user's.

use super::common;
use crate::{CannotTell, CheckOptions};
use whylate_base::{CpuSet, Policy};
use whylate_host::{Snapshot, Thread};

/// The default priority: the one of measuring programs and most applications.
const ASSUMED: u32 = 80;

/// The user's priority, and its description.
pub(in crate::rules) fn priority(options: &CheckOptions) -> (u32, String) {
    match options.priority {
        Some(priority) => (priority, format!("priority {priority}")),
        None => (ASSUMED, format!("priority {ASSUMED} (assumed; set --priority)")),
    }
}

/// Whether a thread runs before one of this priority, or alternates with it.
pub(in crate::rules) fn is_at_or_above(thread: &Thread, priority: u32) -> bool {
    match thread.policy {
        Some(Policy::Fifo | Policy::Rr) => thread.priority >= priority,
        Some(Policy::Deadline) => true,
        _ => false,
    }
}

/// Whether a thread may run on one of these CPUs. One whose CPUs are not known may.
pub(in crate::rules) fn may_run_on(thread: &Thread, cpus: &CpuSet) -> bool {
    thread.affinity.known().is_none_or(|own| !common(own, cpus).is_empty())
}

/// `multipathd (rr 99)`.
pub(in crate::rules) fn described(thread: &Thread) -> String {
    let policy = thread.policy.map_or("?", Policy::name);
    match thread.priority {
        0 => format!("{} ({policy})", thread.comm),
        priority => format!("{} ({policy} {priority})", thread.comm),
    }
}

/// `CPUs 0-3, last on 1`.
pub(in crate::rules) fn cpus_of(thread: &Thread) -> String {
    let last = thread.cpu.map_or(String::new(), |cpu| format!(", last on {cpu}"));
    match thread.affinity.known() {
        Some(cpus) => format!("CPUs {cpus}{last}"),
        None => format!("CPUs not known{last}"),
    }
}

/// Where a thread is, as the path of evidence.
pub(in crate::rules) fn place(thread: &Thread) -> String {
    format!("/proc/{}/task/{}", thread.pid, thread.tid)
}

/// Every thread of the machine. In a container, or with hidepid=, other threads are hidden, kernel threads in any
/// case: then a missing thread proves nothing.
pub(in crate::rules) fn with_those_of_kernel(host: &Snapshot) -> Result<&[Thread], CannotTell> {
    let threads = &host.threads.each;
    match threads.need()? {
        all if all.iter().any(|thread| thread.kernel) => Ok(all),
        _ => Err(CannotTell::because(
            &threads.path,
            "kernel threads and threads of other users are hidden here, as in a container: run it on the host, as \
             root",
        )),
    }
}

/// The priority of a thread as chrt(1) sets it: 0 for SCHED_OTHER.
pub(in crate::rules) fn realtime_priority(thread: &Thread) -> u32 {
    if thread.is_realtime() { thread.priority } else { 0 }
}

/// `CPU 0/KVM`, as QEMU names them with debug-threads=on, which libvirt gives.
pub(in crate::rules) fn is_vcpu(thread: &Thread) -> bool {
    let number = thread.comm.strip_prefix("CPU ").and_then(|rest| rest.strip_suffix("/KVM"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}
