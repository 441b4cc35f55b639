//! The machine's real-time threads, from `/proc/PID/task/TID/stat` (proc(5)).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use whylate_base::{Comm, Policy, Tid};

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

/// `PF_KTHREAD` of `include/linux/sched.h`, in the flags of field 9.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Reads the text of a `stat` file; `None` for a thread that is not real-time.
fn parse(stat: &[u8]) -> Option<RtThread> {
    // The name in parentheses may itself hold blanks, parentheses and any byte.
    let open = stat.iter().position(|&b| b == b'(')?;
    let close = stat.iter().rposition(|&b| b == b')')?;
    let tid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
    let comm = Comm::from_bytes(stat.get(open + 1..close)?);
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Counted from field 3, the state.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let policy = Policy::from_raw(number(41)?.try_into().ok()?)?;
    policy.is_realtime().then_some(RtThread {
        tid: Tid(tid),
        policy,
        priority: number(40)?.try_into().ok()?,
        comm,
        is_kernel: number(9)? & KERNEL_THREAD != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
