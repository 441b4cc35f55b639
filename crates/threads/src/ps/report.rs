//! Two samples (or one) become the report.

use super::interrupts::{InterruptRow, interrupts};
use super::oddities;
use super::options::PsOptions;
use super::sample::{PsSample, per_second};
use super::thread_row::{Scheduling, ThreadRow};
use super::waits::blocked_on;
use crate::rank::rank;
use std::collections::HashMap;
use whylate_base::{CpuSet, Ns, Tid};
use whylate_host::{FsRoot, Thread, ThreadUsage};

/// The threads and interrupts of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct PsReport {
    /// The time between the samples; `None`: one sample, and no rates.
    pub interval: Option<Ns>,
    /// The selected threads: those that run first come first.
    pub threads: Vec<ThreadRow>,
    /// How many threads the machine has.
    pub all_threads: usize,
    /// Its interrupts.
    pub irqs: Vec<InterruptRow>,
    /// Its page faults.
    pub page_faults: Option<PageFaults>,
    /// What could not be read, and what limits the values, in sentences.
    pub notes: Vec<String>,
}

/// The machine's page faults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageFaults {
    /// Since boot.
    pub all: u64,
    /// Of these, those that read from a device.
    pub major: u64,
    /// All, in a second.
    pub rate: Option<f64>,
    /// Major ones, in a second.
    pub major_rate: Option<f64>,
}

impl PsReport {
    /// The report of the machine `tree`, by one sample or by two. With two samples it is this machine.
    pub fn of(tree: &FsRoot, options: &PsOptions, before: Option<&PsSample>, after: &PsSample) -> PsReport {
        let before = before.map(|before| (before, after.at - before.at));
        let mut irqs = interrupts(before, after);
        let isolated = isolated(tree);
        let earlier: HashMap<Tid, &Thread> = before
            .and_then(|(sample, _)| sample.threads.known())
            .into_iter()
            .flatten()
            .map(|thread| (thread.tid, thread))
            .collect();
        let all = after.threads.known().map_or(&[][..], Vec::as_slice);
        let mut threads: Vec<ThreadRow> = Vec::new();
        for thread in all.iter().filter(|thread| options.selects(thread)) {
            // An id that another thread has now is not the same thread.
            let then = earlier.get(&thread.tid).filter(|then| then.started == thread.started);
            let rates = before
                .zip(then)
                .map(|((sample, interval), then)| scheduling((then, sample), (thread, after), interval));
            let mut row = row(tree, thread, after, rates, before.is_some());
            row.odd = oddities::of(&row, &irqs, isolated.as_ref());
            threads.push(row);
        }
        for irq in &mut irqs {
            let waits = |row: &&ThreadRow| {
                row.blocked_on
                    .as_ref()
                    .is_some_and(|blocked| irq.irq.is_some_and(|irq| blocked.irqs.contains(&irq)))
            };
            irq.waiting = threads.iter().filter(waits).map(|row| row.tid).collect();
        }
        threads.sort_by_key(|row| (rank(row.policy, row.priority), row.tid));
        PsReport {
            interval: before.map(|(_, interval)| interval),
            notes: notes(after, &threads, before.is_some()),
            threads,
            all_threads: all.len(),
            irqs,
            page_faults: page_faults(before, after),
        }
    }
}

/// The CPUs out of load balancing, and those without a tick: both are kept free for chosen threads.
fn isolated(tree: &FsRoot) -> Option<CpuSet> {
    let list = |name| tree.value::<CpuSet>(&format!("/sys/devices/system/cpu/{name}")).value.ok();
    let sets = [list("isolated"), list("nohz_full")].into_iter().flatten();
    sets.reduce(|all, more| all.iter().chain(more.iter()).collect())
}

fn row(
    tree: &FsRoot,
    thread: &Thread,
    sample: &PsSample,
    rates: Option<Scheduling>,
    live: bool,
) -> ThreadRow {
    let time = sample.run_times.get(&thread.tid);
    // `USER_HZ` is 100 on every architecture that whylate is built for (include/uapi/asm-generic/param.h).
    let started = i64::try_from(thread.started).ok().and_then(|ticks| ticks.checked_mul(10_000_000)).map(Ns);
    let age = sample.uptime.zip(started).map(|(uptime, started)| uptime - started);
    let cgroup = tree.text(&format!("/proc/{}/cgroup", thread.pid)).value.ok();
    ThreadRow {
        tid: thread.tid,
        pid: thread.pid,
        comm: thread.comm.clone(),
        kernel: thread.kernel,
        policy: thread.policy,
        priority: thread.priority,
        nice: thread.nice,
        state: thread.state,
        cpus: thread.affinity.known().cloned(),
        last_cpu: thread.cpu,
        age: age.filter(|&age| live && age >= Ns::ZERO),
        usage: thread.usage,
        cpu_time: time.map(|time| time.cpu_time),
        run_delay: time.map(|time| time.run_delay),
        rates,
        cgroup: cgroup.as_deref().and_then(group),
        blocked_on: blocked_on(tree, thread, live),
        odd: Vec::new(),
    }
}

/// The path in v2's line `0::/path`; without one, of the first line (cgroups(7)).
fn group(text: &str) -> Option<String> {
    let path = |line: &str| line.splitn(3, ':').nth(2).map(str::to_owned);
    let unified = text.lines().find(|line| line.starts_with("0::")).and_then(path);
    unified
        .filter(|path| path != "/")
        .or_else(|| text.lines().filter_map(path).find(|path| path != "/"))
        .or_else(|| text.lines().find_map(path))
}

fn scheduling(before: (&Thread, &PsSample), after: (&Thread, &PsSample), interval: Ns) -> Scheduling {
    let ((then, earlier), (now, later)) = (before, after);
    let times = earlier.run_times.get(&then.tid).zip(later.run_times.get(&now.tid));
    let share = |from: Ns, to: Ns| {
        // The sum of a thread that runs is brought up to date after the clock was read: a little more than all.
        (to >= from && interval > Ns::ZERO).then(|| ((to - from).0 as f64 / interval.0 as f64).min(1.0))
    };
    let rate = |of: fn(&ThreadUsage) -> Option<u64>| {
        let (before, after) = of(&then.usage).zip(of(&now.usage))?;
        per_second(before, after, interval)
    };
    Scheduling {
        cpu_share: times.and_then(|(from, to)| share(from.cpu_time, to.cpu_time)),
        waiting_share: times.and_then(|(from, to)| share(from.run_delay, to.run_delay)),
        voluntary: rate(|usage| usage.voluntary_switches),
        involuntary: rate(|usage| usage.involuntary_switches),
        faults: rate(|usage| usage.minor_faults.zip(usage.major_faults).map(|(minor, major)| minor + major)),
    }
}

fn page_faults(before: Option<(&PsSample, Ns)>, after: &PsSample) -> Option<PageFaults> {
    let now = after.page_faults.known()?;
    let then = before.and_then(|(sample, interval)| Some((sample.page_faults.known()?, interval)));
    Some(PageFaults {
        all: now.all,
        major: now.major,
        rate: then.and_then(|(then, interval)| per_second(then.all, now.all, interval)),
        major_rate: then.and_then(|(then, interval)| per_second(then.major, now.major, interval)),
    })
}

fn notes(sample: &PsSample, threads: &[ThreadRow], live: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Err(unread) = sample.threads.need() {
        notes.push(format!("the threads could not be read: {unread}"));
    }
    if let Err(unread) = sample.irqs.rows.need() {
        notes.push(format!("the interrupts could not be read: {unread}"));
    }
    if !threads.is_empty() && threads.iter().all(|row| row.cpu_time.is_none()) {
        notes.push(
            "CPU time and run-queue wait are not known: there is no schedstat (CONFIG_SCHED_INFO)".to_owned(),
        );
    }
    let hidden =
        threads.iter().filter(|row| live && matches!(row.state, Some('S' | 'D')) && row.blocked_on.is_none());
    let hidden = hidden.count();
    if hidden > 0 {
        notes.push(format!("what {hidden} of the threads are blocked on could not be read: run as root"));
    }
    notes
}
