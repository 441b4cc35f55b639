//! Threads of the benches' own workloads: their CPU and their policy.

use rustix::thread::{CpuSet, Pid, sched_setaffinity};
use std::process::{Command, Stdio};

pub(super) fn pin(thread: Pid, cpu: usize) {
    let mut only = CpuSet::new();
    only.set(cpu);
    if let Err(error) = sched_setaffinity(Some(thread), &only) {
        eprintln!("bench: CPU {cpu} cannot be pinned to: {error}");
    }
}

/// By chrt(1), as setting a policy is no safe call outside `whylate-sys`, which xtask stays free of.
pub(super) fn make_fifo(thread: Pid, priority: &str) {
    let done = Command::new("chrt")
        .args(["--fifo", "--pid", priority, &thread.as_raw_nonzero().to_string()])
        .stdin(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !done {
        eprintln!("bench: no FIFO thread (chrt missing, or not root): its times are those of SCHED_OTHER");
    }
}
