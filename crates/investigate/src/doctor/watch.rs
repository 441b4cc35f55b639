//! Looks at a program's files in `/proc` while it runs: soon after it starts, and then at most once a second.

use super::facts::{Look, ProcessFacts};
use super::interpreter;
use super::process_files::{self as files, TaskFiles};
use super::{numa, resident};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Ns, Policy, Tid};
use whylate_host::{FsRoot, status_value};
use whylate_sys::{Clock, now};

/// Programs set themselves up early: the first looks are soon, and each later one twice as late.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// Each thread costs three files at each look: more are not looked at.
const MAX_THREADS: usize = 1_000;
/// Tables of descriptors and mappings that are kept, at most.
const MAX_TABLES: usize = 64;
/// How often it is read how much of a process's memory is resident, as long as its mappings stay as they are.
const MEMORY_LOOKS: usize = 5;

/// What the looks showed.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// Each process, with its threads.
    pub(super) processes: BTreeMap<Tid, ProcessFacts>,
    pub(super) threads: BTreeMap<Tid, WatchedThread>,
    /// The CPUs of each NUMA node, where there are several.
    pub(super) nodes: BTreeMap<u32, CpuSet>,
    /// The threads of whylate itself.
    pub(super) observers: BTreeSet<Tid>,
    /// Whether threads were left out.
    pub(super) is_cut: bool,
    /// How often it was looked.
    pub(super) looks: u64,
}

/// A thread, as the looks showed it.
#[derive(Clone, Debug)]
pub(super) struct WatchedThread {
    pub(super) pid: Tid,
    /// The last look.
    pub(super) last: TaskFiles,
    /// The last real-time policy and priority that it had.
    pub(super) realtime: Option<(Policy, u32)>,
    /// When it was seen real-time first, and how often it had given up the CPU by then.
    pub(super) realtime_since: Option<Ns>,
    /// When it was looked, and how often the thread had given up the CPU by then.
    pub(super) switches: Vec<(Ns, u64)>,
}

/// The looks at one or more processes and what they start.
pub(super) struct Watch {
    roots: Vec<Tid>,
    next: Instant,
    pause: Duration,
    memory_looks: BTreeMap<Tid, usize>,
    watched: Watched,
}

impl Watch {
    /// Begins at once for processes that run already.
    pub(super) fn new(roots: Vec<Tid>) -> Watch {
        Watch {
            roots,
            next: Instant::now(),
            pause: FIRST_PAUSE,
            memory_looks: BTreeMap::new(),
            watched: Watched { nodes: numa::nodes(&FsRoot::live()), ..Watched::default() },
        }
    }

    /// Looks, when it is time to; `command` is a process that has been started meanwhile.
    pub(super) fn look(&mut self, command: Option<Tid>) {
        if let Some(pid) = command.filter(|pid| !self.roots.contains(pid)) {
            self.roots.push(pid);
        }
        let at = Instant::now();
        if at >= self.next {
            self.next = at + self.pause;
            self.pause = (self.pause * 2).min(LAST_PAUSE);
            self.look_now();
        }
    }

    /// Ends with a last look.
    pub(super) fn finish(mut self) -> Watched {
        self.memory_looks.clear();
        self.look_now();
        self.watched
    }

    fn look_now(&mut self) {
        self.watched.looks += 1;
        self.watched.observers.extend(files::numbers(Path::new("/proc/self/task")).into_iter().map(Tid));
        let mut found: BTreeSet<Tid> = BTreeSet::new();
        let mut open = self.roots.clone();
        while let Some(pid) = open.pop() {
            if found.len() < MAX_THREADS && found.insert(pid) {
                open.extend(files::children(pid));
            }
        }
        let mut left = MAX_THREADS;
        for pid in found {
            self.look_at(pid, &mut left);
        }
        self.watched.is_cut |= left == 0;
    }

    fn look_at(&mut self, pid: Tid, left: &mut usize) {
        let directory = Path::new("/proc").join(pid.to_string());
        let at = now(Clock::Monotonic);
        let mut has_realtime = false;
        for tid in files::numbers(&directory.join("task")).into_iter().map(Tid) {
            let Some(task) = files::task(pid, tid).filter(|_| *left > 0) else { continue };
            *left -= 1;
            has_realtime |= task.policy.is_realtime();
            self.watched
                .threads
                .entry(tid)
                .or_insert_with(|| WatchedThread::new(pid, task.clone()))
                .update(at, task);
        }
        let Ok(status) = fs::read_to_string(directory.join("status")) else { return };
        // One that has ended and waits for its parent has neither memory nor descriptors.
        let Some(locked) = kib(&status, "VmLck") else { return };
        let process = self.watched.processes.entry(pid).or_default();
        process.locked_bytes = Some(locked);
        process.most_locked_bytes = process.most_locked_bytes.max(Some(locked));
        if process.script.is_none() {
            process.script = interpreter::script_of(pid);
        }
        process.capabilities =
            status_value(&status, "CapEff").and_then(|mask| u64::from_str_radix(mask, 16).ok());
        process.has_seccomp_filter = status_value(&status, "Seccomp").map(|mode| mode == "2");
        process.in_user_namespace = user_namespace(&directory);
        if let Ok(limits) = fs::read_to_string(directory.join("limits")) {
            process.rtprio_limit = files::soft_limit(&limits, "Max realtime priority");
            let us = files::soft_limit(&limits, "Max realtime timeout");
            process.rttime_limit = us.and_then(|us| i64::try_from(us).ok()).map(Ns::from_us);
        }
        let begin = now(Clock::Monotonic);
        let descriptors = files::descriptors(pid);
        keep(&mut process.descriptors, Look { begin, end: now(Clock::Monotonic) }, descriptors);
        let changes = keep(&mut process.mappings, at, files::mappings(pid));
        let looks = self.memory_looks.entry(pid).or_default();
        if has_realtime && (changes || *looks < MEMORY_LOOKS) {
            *looks += 1;
            if let Some(memory) = resident::memory(pid, &status) {
                process.memory = Some((at, memory));
                if !self.watched.nodes.is_empty() {
                    process.node_bytes = numa::memory(pid).unwrap_or_default();
                }
            }
        }
    }
}

impl WatchedThread {
    fn new(pid: Tid, task: TaskFiles) -> WatchedThread {
        WatchedThread { pid, last: task, realtime: None, realtime_since: None, switches: Vec::new() }
    }

    fn update(&mut self, at: Ns, task: TaskFiles) {
        if task.policy.is_realtime() {
            self.realtime = Some((task.policy, task.priority));
            self.realtime_since.get_or_insert(at);
        }
        if self.switches.len() < MAX_TABLES {
            self.switches.push((at, task.voluntary_switches));
        }
        self.last = task;
    }
}

/// Keeps a table; of several looks that show the same one, the first and the last. True where it differs from the one before.
fn keep<W, T: PartialEq>(tables: &mut Vec<(W, T)>, look: W, table: T) -> bool {
    let same = tables.iter().rev().take_while(|(_, last)| *last == table).count();
    let has_room = tables.len() < MAX_TABLES;
    match tables.last_mut() {
        Some((last, _)) if same > 1 => *last = look,
        _ if has_room => tables.push((look, table)),
        _ => return false,
    }
    same == 0
}

fn kib(status: &str, name: &str) -> Option<u64> {
    status_value(status, name)?.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The first user namespace maps all user ids to themselves (user_namespaces(7)).
fn user_namespace(directory: &Path) -> Option<bool> {
    let map = fs::read_to_string(directory.join("uid_map")).ok()?;
    let words: Vec<&str> = map.split_ascii_whitespace().collect();
    Some(words != ["0", "0", "4294967295"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen_with_its_threads() {
        let own = Tid(i32::try_from(std::process::id()).expect("an id"));
        let mut watch = Watch::new(vec![own]);
        watch.look(None);
        let watched = watch.finish();
        let process = &watched.processes[&own];
        assert!(process.locked_bytes.is_some() && process.capabilities.is_some());
        assert!(!process.mappings[0].1.is_empty() && !process.descriptors[0].1.is_empty());
        assert!(watched.threads.values().any(|thread| thread.pid == own));
        assert_eq!(watched.looks, 2);
    }

    #[test]
    fn a_process_that_is_not_there_has_nothing() {
        let watched = Watch::new(vec![Tid(i32::MAX)]).finish();
        assert!(watched.processes.is_empty() && watched.threads.is_empty());
    }

    #[test]
    fn of_a_table_the_first_and_the_last_look_are_kept() {
        let mut tables = Vec::new();
        let looks = [(1, 'a', true), (2, 'a', false), (3, 'a', false), (4, 'b', true), (5, 'a', true)];
        for (at, table, differs) in looks {
            assert_eq!(keep(&mut tables, Ns(at), table), differs, "{at}");
        }
        assert_eq!(tables, [(Ns(1), 'a'), (Ns(3), 'a'), (Ns(4), 'b'), (Ns(5), 'a')]);
    }
}
