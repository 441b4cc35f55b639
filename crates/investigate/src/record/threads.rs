//! The machine's real-time threads, from `/proc/PID/task/TID/stat` (proc_pid_stat(5)).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use whylate_base::{Comm, Policy, Tid};
use whylate_host::ThreadStat;

/// A thread whose policy is SCHED_FIFO, SCHED_RR or SCHED_DEADLINE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtThread {
    /// The thread.
    pub tid: Tid,
    /// FIFO, RR or DEADLINE.
    pub policy: Policy,
    /// The user's priority 1 to 99; 0 for SCHED_DEADLINE.
    pub priority: u32,
    /// Its name.
    pub comm: Comm,
    /// True for a thread of the kernel's own.
    pub is_kernel: bool,
}

/// All real-time threads there are now. One that ends while they are listed may be missing.
pub fn real_time_threads() -> Vec<RtThread> {
    let tasks = numbered(Path::new("/proc")).flat_map(|process| numbered(&process.join("task")));
    tasks.filter_map(|task| parse(&fs::read(task.join("stat")).ok()?)).collect()
}

fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .map(|entry| entry.path())
}

/// These threads and all others of their processes.
pub(crate) fn threads_of(threads: &[Tid]) -> BTreeSet<Tid> {
    let process = |tid: &Tid| {
        // Of any thread's id, though only processes are listed.
        let tasks = numbered(Path::new(&format!("/proc/{tid}/task")));
        tasks.filter_map(|task| task.file_name()?.to_str()?.parse().ok().map(Tid))
    };
    threads.iter().flat_map(process).collect()
}

/// Reads the text of a `stat` file; `None` for a thread that is not real-time.
fn parse(stat: &[u8]) -> Option<RtThread> {
    let stat = ThreadStat::parse(stat)?;
    let policy = stat.policy().filter(|policy| policy.is_realtime())?;
    Some(RtThread {
        tid: stat.tid()?,
        policy,
        priority: stat.priority()?,
        comm: Comm::from_bytes(stat.comm()),
        is_kernel: stat.is_kernel_thread()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PF_KTHREAD` of `include/linux/sched.h`.
    const KERNEL_THREAD: u64 = 0x0020_0000;

    fn stat(name: &str, flags: u64, priority: u32, policy: u32) -> Vec<u8> {
        let zeros = "0 ".repeat(30);
        format!("17 ({name}) S 2 0 0 0 -1 {flags} {zeros}{priority} {policy} 0 0 0\n").into_bytes()
    }

    #[test]
    fn policies_and_odd_names() {
        for (flags, priority, policy, name) in [
            (KERNEL_THREAD | 64, 99, Policy::Fifo, "migration/0"),
            (0, 0, Policy::Deadline, "a) S (b"),
            (0, 5, Policy::Rr, "x y"),
        ] {
            let thread = parse(&stat(name, flags, priority, policy.raw())).expect(name);
            let expected =
                RtThread { tid: Tid(17), policy, priority, comm: name.into(), is_kernel: flags != 0 };
            assert_eq!(thread, expected);
        }
        assert_eq!(parse(&stat("sh", 0, 0, 0)), None, "SCHED_OTHER");
        assert_eq!(parse(&stat("sh", 0, 0, 4)), None, "no such policy");
        for cut in 0..stat("sh", 0, 0, 1).len() - 12 {
            assert_eq!(parse(&stat("sh", 0, 0, 1)[..cut]), None);
        }
    }

    #[test]
    fn the_field_is_that_of_this_kernel() {
        // Every Linux has a FIFO thread per CPU for stopping it, unless a PID namespace hides it.
        let threads = real_time_threads();
        if !Path::new("/proc/2/task").exists()
            || fs::read_to_string("/proc/2/comm").ok().as_deref() != Some("kthreadd\n")
        {
            whylate_testing::skip(whylate_testing::Need::Machine, "kernel threads are not visible here");
            return;
        }
        let stopper =
            threads.iter().find(|thread| thread.comm.as_str() == "migration/0").expect("migration/0");
        assert!(stopper.is_kernel && stopper.policy == Policy::Fifo && stopper.priority == 99);
    }
}
