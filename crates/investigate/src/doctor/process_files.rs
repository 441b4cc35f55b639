//! The files of `/proc/PID` that are read while a program is watched (proc(5)).

use super::facts::{Descriptor, MappedRange};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use whylate_base::{Comm, CpuSet, Ns, Policy, Tid};
use whylate_host::{ThreadStat, status_value};
use whylate_stacks::{MapsLine, parse_maps};

/// What `stat`, `status` and `schedstat` show of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskFiles {
    pub(super) comm: Comm,
    pub(super) policy: Policy,
    pub(super) priority: u32,
    pub(super) minor_faults: u64,
    pub(super) major_faults: u64,
    pub(super) cpus: Option<CpuSet>,
    pub(super) voluntary_switches: u64,
    pub(super) involuntary_switches: u64,
    pub(super) run_delay: Option<Ns>,
}

/// The numbers that a file or directory name is made of.
pub(super) fn numbers(directory: &Path) -> Vec<i32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The processes that a process has started and that still run.
pub(super) fn children(pid: Tid) -> Vec<Tid> {
    let tasks = Path::new("/proc").join(pid.to_string()).join("task");
    let lists = numbers(&tasks).into_iter().map(|tid| tasks.join(tid.to_string()).join("children"));
    let lists = lists.filter_map(|path| fs::read_to_string(path).ok());
    lists
        .flat_map(|list| {
            list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).map(Tid).collect::<Vec<_>>()
        })
        .collect()
}

/// A thread's files; `None` where it has ended.
pub(super) fn task(pid: Tid, tid: Tid) -> Option<TaskFiles> {
    let directory = Path::new("/proc").join(pid.to_string()).join("task").join(tid.to_string());
    let text = |name: &str| fs::read(directory.join(name)).ok();
    let status = String::from_utf8_lossy(&text("status")?).into_owned();
    let schedstat = text("schedstat").map(|text| String::from_utf8_lossy(&text).into_owned());
    parse_task(&text("stat")?, &status, schedstat.as_deref())
}

fn parse_task(stat: &[u8], status: &str, schedstat: Option<&str>) -> Option<TaskFiles> {
    let stat = ThreadStat::parse(stat)?;
    Some(TaskFiles {
        comm: Comm::from_bytes(stat.comm()),
        policy: stat.policy()?,
        priority: stat.priority()?,
        minor_faults: stat.minor_faults()?,
        major_faults: stat.major_faults()?,
        cpus: status_value(status, "Cpus_allowed_list").and_then(|list| list.parse().ok()),
        voluntary_switches: status_value(status, "voluntary_ctxt_switches")
            .and_then(|n| n.parse().ok())
            .unwrap_or(0),
        involuntary_switches: status_value(status, "nonvoluntary_ctxt_switches")
            .and_then(|n| n.parse().ok())
            .unwrap_or(0),
        // Time on the CPU, time on the runqueue, slices (`Documentation/scheduler/sched-stats.rst`).
        run_delay: schedstat.and_then(|text| text.split_ascii_whitespace().nth(1)?.parse().ok()).map(Ns),
    })
}

/// The soft limit in a line of `/proc/PID/limits`; `None` where it is not there or unlimited.
pub(super) fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let rest = limits.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// What the descriptors of a process refer to.
pub(super) fn descriptors(pid: Tid) -> BTreeMap<i32, Descriptor> {
    let directory = Path::new("/proc").join(pid.to_string()).join("fd");
    numbers(&directory)
        .into_iter()
        .filter_map(|fd| Some((fd, descriptor(&directory.join(fd.to_string()))?)))
        .collect()
}

fn descriptor(link: &Path) -> Option<Descriptor> {
    let target = fs::read_link(link).ok()?.to_string_lossy().into_owned();
    let kind = fs::metadata(link).ok().map(|metadata| metadata.file_type());
    Some(match target.as_str() {
        "anon_inode:[timerfd]" => Descriptor::Timer,
        "anon_inode:[eventfd]" => Descriptor::Event,
        _ if target.starts_with("socket:") => Descriptor::Socket,
        _ if kind.is_some_and(|kind| kind.is_fifo()) => Descriptor::Pipe,
        _ if target.starts_with("/dev/pts/")
            || target.starts_with("/dev/tty")
            || target == "/dev/console" =>
        {
            Descriptor::Terminal(target)
        }
        _ if kind.is_some_and(|kind| kind.is_file()) => Descriptor::File(target),
        _ => Descriptor::Other(target),
    })
}

/// What a process has mapped.
pub(super) fn mappings(pid: Tid) -> Vec<MappedRange> {
    let text = fs::read(Path::new("/proc").join(pid.to_string()).join("maps")).unwrap_or_default();
    parse_maps(&text).map(range).collect()
}

fn range(line: MapsLine) -> MappedRange {
    let MapsLine { mapping, is_writable, is_shared, .. } = line;
    MappedRange {
        start: mapping.start,
        end: mapping.end(),
        offset: mapping.file_offset,
        is_writable,
        is_shared,
        path: mapping.path.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] = b"412 (a) b (x) S 1 412 412 0 -1 4194560 7 0 2 0 0 0 0 0 -51 0 1 0 37 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 17 3 50 1 0 0\n";
    const STATUS: &str = "Name:\tx\nVmLck:\t  12 kB\nCpus_allowed_list:\t2-3\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n";

    #[test]
    fn a_thread_is_read_by_the_fields_of_the_man_pages() {
        let task = parse_task(STAT, STATUS, Some("100 200 3\n")).expect("a thread");
        assert_eq!(
            task,
            TaskFiles {
                comm: "a) b (x".into(),
                policy: Policy::Fifo,
                priority: 50,
                minor_faults: 7,
                major_faults: 2,
                cpus: "2-3".parse().ok(),
                voluntary_switches: 9,
                involuntary_switches: 4,
                run_delay: Some(Ns(200)),
            }
        );
        assert_eq!(parse_task(STAT, "", None).and_then(|task| task.run_delay), None);
        for cut in 0..STAT.len() - 10 {
            assert_eq!(parse_task(&STAT[..cut], STATUS, None), None);
        }
    }

    #[test]
    fn limits_and_values_are_found_by_name() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max realtime priority     40                   99\n\
                      Max realtime timeout      unlimited            unlimited            us\n";
        assert_eq!(soft_limit(limits, "Max realtime priority"), Some(40));
        assert_eq!(soft_limit(limits, "Max realtime timeout"), None);
        assert_eq!(status_value(STATUS, "VmLck"), Some("12 kB"));
        assert_eq!(status_value(STATUS, "VmLc"), None);
    }

    #[test]
    fn mappings_have_their_permissions_and_paths() {
        let range = |path: &str, is_writable, is_shared| {
            Some(MappedRange {
                start: 0x1000,
                end: 0x3000,
                offset: 0x3000,
                is_writable,
                is_shared,
                path: path.to_owned(),
            })
        };
        for (line, expected) in [
            ("1000-3000 rw-p 00003000 08:01 393230   /usr/bin/a b", range("/usr/bin/a b", true, false)),
            ("1000-3000 r--s 00003000 00:00 0 ", range("", false, true)),
            ("1000-3000 rw-p 00003000 00:00 0          [stack]", range("[stack]", true, false)),
            ("1000", None),
            ("x-3000 rw-p", None),
        ] {
            assert_eq!(parse_maps(line.as_bytes()).map(super::range).next(), expected, "{line}");
        }
    }
}
