//! Every thread: its policy, its priority and its allowed CPUs. Never its command line or environment.

use crate::{FsRoot, Reading, ThreadStat, Why, status_value};
use std::collections::BTreeMap;
use whylate_base::{Cpu, CpuSet, Policy, Tid};

/// The thread names of programs that boost starving threads: stalld(8), and `whylate guard`.
pub const STARVATION_GUARDS: [&str; 2] = ["stalld", "whylate-guard"];

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
    /// Its state: `R` running or runnable, `S` asleep, `D` asleep without signals, and others.
    pub state: Option<char>,
    /// What it did since it started.
    pub usage: ThreadUsage,
}

/// What a thread did since it started. A value is `None` if it is not in the files; an older archive has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Page faults that read from no device.
    pub minor_faults: Option<u64>,
    /// Page faults that read from a device.
    pub major_faults: Option<u64>,
    /// Times that it gave up the CPU.
    pub voluntary_switches: Option<u64>,
    /// Times that it was preempted.
    pub involuntary_switches: Option<u64>,
    /// Bytes of locked memory of its process; a kernel thread has none.
    pub locked_bytes: Option<u64>,
}

impl Thread {
    /// True for SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
    pub fn is_realtime(&self) -> bool {
        self.policy.is_some_and(Policy::is_realtime)
    }
}

impl Threads {
    /// All threads of the machine, by process and thread id.
    pub fn list(tree: &FsRoot) -> Reading<Vec<Thread>> {
        tree.list("/proc").and_then(|names| {
            let mut pids: Vec<i32> = names.iter().filter_map(|name| name.parse().ok()).collect();
            pids.sort_unstable();
            let threads: Vec<Thread> =
                pids.into_iter().map(|pid| of_process(tree, pid)).collect::<Result<Vec<_>, _>>()?.concat();
            // A machine has at least one thread; if none is visible, they are hidden or were not collected.
            match threads.is_empty() {
                true => Err(Why::NotCollected),
                false => Ok(threads),
            }
        })
    }

    pub(crate) fn read(tree: &FsRoot) -> Threads {
        let each = Threads::list(tree);
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
        let status = tree.filtered(&format!("{dir}/status"), kept_lines);
        threads.push(parse(pid, Tid(tid), &thread, &status).ok_or_else(malformed)?);
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

/// The scheduling fields of a thread's stat, its page faults and its start time; 0 for all others: addresses, times,
/// memory.
fn scheduling(stat: &str) -> String {
    const KEPT: [usize; 11] = [3, 4, 9, 10, 12, 18, 19, 22, 39, 40, 41];
    // Any other line stays as it is, and is then malformed.
    let Some((name, fields)) = stat.trim_end().rsplit_once(") ") else { return stat.to_owned() };
    let kept =
        fields.split(' ').enumerate().map(|(at, field)| if KEPT.contains(&(at + 3)) { field } else { "0" });
    format!("{name}) {}\n", kept.collect::<Vec<_>>().join(" "))
}

/// The lines that are kept of a thread's status: the CPUs it may use, its switches, its process's locked memory.
const KEPT_LINES: [&str; 4] =
    ["VmLck", "Cpus_allowed_list", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"];

fn kept_lines(status: &str) -> String {
    let is_kept = |line: &&str| line.split_once(':').is_some_and(|(name, _)| KEPT_LINES.contains(&name));
    status.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

fn parse(pid: i32, tid: Tid, stat: &str, status: &Reading<String>) -> Option<Thread> {
    let stat = ThreadStat::parse(stat.as_bytes())?;
    let affinity = status.and_then(|status| {
        let list = status_value(status, "Cpus_allowed_list");
        list.and_then(|list| list.parse().ok())
            .ok_or_else(|| Why::Malformed { expected: "Cpus_allowed_list".to_owned() })
    });
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
        state: stat.state(),
        usage: status.known().map(|status| usage(&stat, status)).unwrap_or_default(),
    })
}

/// An archive without the lines of switches is of a version that wrote 0 for the page faults.
fn usage(stat: &ThreadStat<'_>, status: &str) -> ThreadUsage {
    let count = |name| status_value(status, name).and_then(|count| count.parse().ok());
    let voluntary_switches = count("voluntary_ctxt_switches");
    let kilobytes =
        status_value(status, "VmLck").and_then(|size| size.strip_suffix("kB")?.trim().parse::<u64>().ok());
    ThreadUsage {
        minor_faults: voluntary_switches.and_then(|_| stat.minor_faults()),
        major_faults: voluntary_switches.and_then(|_| stat.major_faults()),
        voluntary_switches,
        involuntary_switches: count("nonvoluntary_ctxt_switches"),
        locked_bytes: kilobytes.and_then(|size| size.checked_mul(1024)),
    }
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
            (
                "/proc/412/task/412/status",
                "Name:\tx\nVmLck:\t  12 kB\nCpus_allowed_list:\t2-3\nvoluntary_ctxt_switches:\t9\n\
                 nonvoluntary_ctxt_switches:\t4\n",
            ),
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
        assert_eq!(thread.state, Some('S'));
        let usage = ThreadUsage {
            minor_faults: Some(1),
            major_faults: Some(0),
            voluntary_switches: Some(9),
            involuntary_switches: Some(4),
            locked_bytes: Some(12 * 1024),
        };
        assert_eq!(thread.usage, usage);
        assert_eq!(threads.cgroups[&412].known().map(String::as_str), Some("0::/rt\n"));
    }

    #[test]
    fn nothing_is_kept_of_a_thread_but_its_scheduling() {
        let secret = STAT
            .replace(" 412 412 0 -1 ", " 412 412 34816 -1 ")
            .replace(" 37 1 1 1 ", " 37 1 1 94119396056128 ");
        let status =
            Reading::new("/x", Ok("Cpus_allowed_list:\t0\nvoluntary_ctxt_switches:\t9\n".to_owned()));
        let kept = scheduling(&secret);
        assert!(!kept.contains("94119396056128") && !kept.contains("34816"), "{kept}");
        assert!(kept.contains(" 37 "), "its id and its start time identify a thread: {kept}");
        let thread = |text: &str| parse(412, Tid(412), text, &status).expect("a thread");
        assert_eq!(thread(&kept), thread(&secret));
        let lines = "Cpus_allowed_list:\t2-3\nvoluntary_ctxt_switches:\t1\n";
        assert_eq!(kept_lines(&format!("Name:\tx\nUid:\t1000\n{lines}Cpus_allowed:\tc\n")), lines);
    }

    #[test]
    fn an_archive_without_the_switches_has_no_page_faults_either() {
        let status = Reading::new("/x", Ok("Cpus_allowed_list:\t2-3\n".to_owned()));
        let thread = parse(412, Tid(412), STAT, &status).expect("a thread");
        assert_eq!(thread.usage, ThreadUsage::default());
    }

    #[test]
    fn no_thread_at_all_is_no_answer() {
        assert!(Threads::read(&FsRoot::memory(&[("/proc/version", "")])).each.need().is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "\\PC{0,60}", cut in 0usize..200) {
            let status = Reading::new("/x", Ok(text.clone()));
            let _ = parse(1, Tid(1), &text, &status);
            let _ = parse(1, Tid(1), &STAT[..cut.min(STAT.len())], &status);
        }
    }
}
