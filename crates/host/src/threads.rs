//! Every thread: its policy, its priority and its allowed CPUs. Never its command line or environment.

use crate::{FsRoot, Reading, ThreadStat, Why};
use std::collections::BTreeMap;
use whylate_base::{Cpu, CpuSet, Policy, Tid};

/// The threads of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Threads {
    /// Each that was there, by process and thread id. One that ended meanwhile is left out.
    pub each: Reading<Vec<Thread>>,
    /// The control groups of processes with a real-time thread, by process id.
    pub cgroups: BTreeMap<i32, Reading<String>>,
    /// The control groups of this process.
    pub own_cgroup: Reading<String>,
}

/// One thread (proc_pid_stat(5), proc_pid_status(5)).
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// Its process.
    pub pid: i32,
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub comm: String,
    /// Its scheduling policy; `None`: one that this program does not know.
    pub policy: Option<Policy>,
    /// Its real-time priority, 1 to 99; 0 for other policies.
    pub priority: u32,
    /// Its nice value.
    pub nice: i32,
    /// Whether it is the kernel's own.
    pub kernel: bool,
    /// Whether the kernel refuses to change its CPUs (sched_setaffinity(2) gives `EINVAL`).
    pub bound: bool,
    /// Its start time, in clock ticks since boot: with its id it identifies the thread. 0 if an older
    /// archive did not keep it.
    pub started: u64,
    /// The CPU it was on last.
    pub cpu: Option<Cpu>,
    /// The CPUs it may use.
    pub affinity: Reading<CpuSet>,
}

impl Thread {
    /// True for SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
    pub fn is_realtime(&self) -> bool {
        self.policy.is_some_and(Policy::is_realtime)
    }
}

impl Threads {
    pub(crate) fn read(tree: &FsRoot) -> Threads {
        let each = tree.list("/proc").and_then(|names| {
            let mut pids: Vec<i32> = names.iter().filter_map(|name| name.parse().ok()).collect();
            pids.sort_unstable();
            let threads: Vec<Thread> =
                pids.into_iter().map(|pid| of_process(tree, pid)).collect::<Result<Vec<_>, _>>()?.concat();
            // A machine has at least one thread; if none is visible, they are hidden or were not collected.
            match threads.is_empty() {
                true => Err(Why::NotCollected),
                false => Ok(threads),
            }
        });
        let mut cgroups = BTreeMap::new();
        for thread in
            each.known().into_iter().flatten().filter(|thread| thread.is_realtime() && !thread.kernel)
        {
            cgroups.entry(thread.pid).or_insert_with(|| tree.text(&format!("/proc/{}/cgroup", thread.pid)));
        }
        Threads { each, cgroups, own_cgroup: tree.text("/proc/self/cgroup") }
    }
}

fn of_process(tree: &FsRoot, pid: i32) -> Result<Vec<Thread>, Why> {
    let tids = match tree.list(&format!("/proc/{pid}/task")).value {
        Ok(tids) => tids,
        Err(why) => return gone(why).map(|()| Vec::new()),
    };
    let mut threads = Vec::new();
    for tid in tids.iter().filter_map(|tid| tid.parse().ok()) {
        let dir = format!("/proc/{pid}/task/{tid}");
        let thread = match tree.filtered(&format!("{dir}/stat"), scheduling).value {
            Ok(stat) => stat,
            Err(why) => {
                gone(why)?;
                continue;
            }
        };
        let malformed = || Why::Malformed { expected: "the fields of proc_pid_stat(5)".to_owned() };
        let affinity = tree.filtered(&format!("{dir}/status"), allowed).and_then(|status| {
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            list.and_then(|list| list.trim().parse().ok())
                .ok_or_else(|| Why::Malformed { expected: "Cpus_allowed_list".to_owned() })
        });
        threads.push(parse(pid, Tid(tid), &thread, affinity).ok_or_else(malformed)?);
    }
    Ok(threads)
}

/// A thread may end while its files are read: ESRCH, or the file is gone. This is not a failure.
fn gone(why: Why) -> Result<(), Why> {
    match why {
        Why::Missing => Ok(()),
        Why::Io { error } if error.contains("os error 3)") => Ok(()),
        why => Err(why),
    }
}

/// The scheduling fields of a thread's stat and its start time; 0 for all others: addresses, times, memory.
fn scheduling(stat: &str) -> String {
    const KEPT: [usize; 9] = [3, 4, 9, 18, 19, 22, 39, 40, 41];
    // Any other line stays as it is, and is then malformed.
    let Some((name, fields)) = stat.trim_end().rsplit_once(") ") else { return stat.to_owned() };
    let kept =
        fields.split(' ').enumerate().map(|(at, field)| if KEPT.contains(&(at + 3)) { field } else { "0" });
    format!("{name}) {}\n", kept.collect::<Vec<_>>().join(" "))
}

/// Of a thread's status the CPUs it may use.
fn allowed(status: &str) -> String {
    let lines = status.lines().filter(|line| line.starts_with("Cpus_allowed_list:"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn parse(pid: i32, tid: Tid, stat: &str, affinity: Reading<CpuSet>) -> Option<Thread> {
    let stat = ThreadStat::parse(stat.as_bytes())?;
    Some(Thread {
        pid,
        tid,
        comm: String::from_utf8_lossy(stat.comm()).into_owned(),
        policy: Policy::from_raw(stat.raw_policy()?),
        priority: stat.priority()?,
        nice: stat.nice()?,
        kernel: stat.is_kernel_thread()?,
        bound: stat.is_bound()?,
        started: stat.started()?,
        cpu: stat.cpu(),
        affinity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAT: &str = "412 (a) b (x) S 1 412 412 0 -1 4194560 1 0 0 0 0 0 0 0 -51 0 1 0 37 1 1 1 0 0 0 0 0 0 0 0 0 0 0 \
                        0 17 3 50 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn threads_are_read_by_the_fields_of_the_man_page() {
        let tree = FsRoot::memory(&[
            ("/proc/412/task/412/stat", STAT),
            ("/proc/412/task/412/status", "Name:\tx\nCpus_allowed_list:\t2-3\n"),
            ("/proc/412/cgroup", "0::/rt\n"),
        ]);
        let threads = Threads::read(&tree);
        let each = threads.each.need().expect("threads");
        let thread = &each[0];
        assert_eq!(
            (thread.comm.as_str(), thread.policy, thread.priority),
            ("a) b (x", Some(Policy::Fifo), 50)
        );
        assert_eq!((thread.cpu, thread.kernel), (Some(Cpu(3)), false));
        assert_eq!((thread.started, thread.bound), (37, false));
        assert_eq!(thread.affinity.need().expect("list").to_string(), "2-3");
        assert_eq!(threads.cgroups[&412].known().map(String::as_str), Some("0::/rt\n"));
    }

    #[test]
    fn nothing_is_kept_of_a_thread_but_its_scheduling() {
        let secret = STAT
            .replace(" 412 412 0 -1 ", " 412 412 34816 -1 ")
            .replace(" 37 1 1 1 ", " 37 1 1 94119396056128 ");
        let affinity = || Reading::new("/x", Ok(CpuSet::new()));
        let kept = scheduling(&secret);
        assert!(!kept.contains("94119396056128") && !kept.contains("34816"), "{kept}");
        assert!(kept.contains(" 37 "), "its id and its start time identify a thread: {kept}");
        let thread = |text: &str| parse(412, Tid(412), text, affinity()).expect("a thread");
        assert_eq!(thread(&kept), thread(&secret));
        assert_eq!(allowed("Name:\tx\nUid:\t1000\nCpus_allowed_list:\t2-3\n"), "Cpus_allowed_list:\t2-3\n");
    }

    #[test]
    fn no_thread_at_all_is_no_answer() {
        assert!(Threads::read(&FsRoot::memory(&[("/proc/version", "")])).each.need().is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,60}", cut in 0usize..200) {
            let affinity = || Reading::new("/x", Ok(CpuSet::new()));
            let _ = parse(1, Tid(1), &text, affinity());
            let _ = parse(1, Tid(1), &STAT[..cut.min(STAT.len())], affinity());
        }
    }
}
