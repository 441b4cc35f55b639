//! The guard's loop: look, help, restore.

use super::cpu_hog::CpuSums;
use super::error::GuardError;
use super::event::{GuardCounts, GuardEvent, StarvingThread, ThreadEvent, ThreadEventKind};
use super::journal::{self, GuardJournal};
use super::lend::KTHREADD;
use super::loans::Loans;
use super::look::Look;
use super::options::GuardOptions;
use super::own_thread;
use super::quota;
use super::waiting::{Wait, Waiting};
use super::watchdog::Watchdog;
use crate::protection::{Protection, protection};
use crate::select;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::{Ns, Tid};
use whylate_host::{FsRoot, RunTime};
use whylate_sys::{Clock, now};

/// How long a signal may go unnoticed.
const GLANCE: Duration = Duration::from_millis(100);
/// Looks are no closer together, and no further apart unless they are expensive.
const INTERVALS: (Ns, Ns) = (Ns(250_000_000), Ns(5_000_000_000));
/// From one look to the next pass this many times its cost: one percent of a CPU.
const REST: i64 = 100;
/// The same while a thread is suspected to starve: five percent.
const REST_SUSPECT: i64 = 20;

/// Guards until `stop` is set, the duration is over, or `once` is fulfilled. Events are given to `notify`, which must not
/// wait: a program that reads them may itself starve.
///
/// # Errors
/// Where the options cannot be used, the rights are missing, or the kernel does not report CPU times; nothing is changed then.
/// Where the watchdog ends: everything is restored then.
pub fn guard(
    options: &GuardOptions,
    stop: &AtomicBool,
    notify: &mut dyn FnMut(&GuardEvent),
) -> Result<GuardCounts, GuardError> {
    if let Some(refusal) = options.refusal() {
        return Err(GuardError::Input(refusal));
    }
    if !has_run_times() {
        return Err(GuardError::Unknown(
            "cannot tell which threads run: /proc/self/schedstat has no times (CONFIG_SCHED_INFO)".to_owned(),
        ));
    }
    let mut sentences = surroundings();
    let helping = match options.dry_run {
        true => None,
        false => Some(Helping::begin(options, &mut sentences)?),
    };
    let (mut loans, mut watchdog) =
        helping.map_or((None, None), |helping| (Some(helping.loans), Some(helping.watchdog)));
    notify(&GuardEvent::Started(sentences));
    let mut session = Session {
        options,
        cpu_time_before: whylate_sys::thread_cpu_time(),
        begun: now(Clock::Monotonic),
        interval: INTERVALS.0,
        is_suspecting: false,
        waiting: Waiting::default(),
        sums: CpuSums::default(),
        counts: GuardCounts::default(),
        loans: loans.as_mut(),
    };
    let outcome = session.watch(stop, watchdog.as_mut(), notify);
    let counts = session.counted();
    for event in loans.map(Loans::close).unwrap_or_default() {
        notify(&GuardEvent::Thread(event));
    }
    if let Some(watchdog) = watchdog {
        watchdog.stop();
    }
    let counts = GuardCounts { lent_now: 0, ..counts };
    notify(&GuardEvent::Stopped(counts));
    outcome.map(|()| counts)
}

/// What a guard has that helps.
struct Helping {
    loans: Loans,
    watchdog: Watchdog,
}

impl Helping {
    fn begin(options: &GuardOptions, sentences: &mut Vec<String>) -> Result<Helping, GuardError> {
        // What fails after this leaves no file behind.
        let journal = GuardJournal::create(Path::new(journal::DIRECTORY)).map_err(not_begun)?;
        sentences.extend(journal::recover().into_iter().map(|line| format!("a guard was killed: {line}")));
        let cpus = options.cpus.as_ref();
        let begun = own_thread::prepare(cpus).and_then(|sentence| {
            Watchdog::start(&options.watchdog, journal.path(), cpus).map(|watchdog| (watchdog, sentence))
        });
        match begun {
            Ok((watchdog, sentence)) => {
                sentences.push(sentence);
                Ok(Helping { loans: Loans::new(options.boost, journal), watchdog })
            }
            Err(error) => {
                journal.close();
                Err(error)
            }
        }
    }
}

fn not_begun(error: io::Error) -> GuardError {
    GuardError::Input(match (error.kind(), journal::running().first()) {
        (io::ErrorKind::WouldBlock, Some(other)) => {
            format!("process {other} guards this machine already: end it first, or use --dry-run")
        }
        _ => format!(
            "cannot write down in {} what is to be restored: {error}: a guard needs root; --dry-run reports without it",
            journal::DIRECTORY
        ),
    })
}

struct Session<'a> {
    options: &'a GuardOptions,
    /// This thread's CPU time at the beginning.
    cpu_time_before: Ns,
    begun: Ns,
    /// From the last look to the next.
    interval: Ns,
    /// Whether a thread had waited for a part of its threshold before the last look.
    is_suspecting: bool,
    waiting: Waiting,
    sums: CpuSums,
    counts: GuardCounts,
    loans: Option<&'a mut Loans>,
}

impl Session<'_> {
    fn watch(
        &mut self,
        stop: &AtomicBool,
        mut watchdog: Option<&mut Watchdog>,
        notify: &mut dyn FnMut(&GuardEvent),
    ) -> Result<(), GuardError> {
        let mut next_look = self.begun;
        while !stop.load(Ordering::Acquire) {
            if watchdog.as_mut().is_some_and(|watchdog| !watchdog.is_alive()) {
                return Err(GuardError::Failed(
                    "the watchdog has ended, which restores what is lent if this process is killed: nothing is lent without it"
                        .to_owned(),
                ));
            }
            if now(Clock::Monotonic) >= next_look {
                let cost = self.look(notify);
                self.interval = interval(self.options, cost, self.is_suspecting);
                next_look = now(Clock::Monotonic) + self.interval;
                notify(&GuardEvent::Looked(self.counted()));
            }
            let events = self.loans.as_mut().map(|loans| loans.tend(false)).unwrap_or_default();
            for event in events {
                self.waiting.forget(event.starving.thread.key());
                notify(&GuardEvent::Thread(event));
            }
            let elapsed = now(Clock::Monotonic).since(self.begun);
            if self.options.duration.is_some_and(|duration| elapsed >= duration) || self.is_done(elapsed) {
                break;
            }
            let until_look = Duration::from_nanos(next_look.since(now(Clock::Monotonic)).0.unsigned_abs());
            let pace = self.loans.as_ref().and_then(|loans| loans.pace()).unwrap_or(GLANCE);
            std::thread::sleep(pace.min(until_look).min(GLANCE));
        }
        Ok(())
    }

    /// With `once`: whether a thread that starved at the beginning was found by now, and nothing is lent.
    fn is_done(&self, elapsed: Ns) -> bool {
        let thresholds = self.options.thresholds.iter().map(|rule| rule.threshold);
        let longest = thresholds.fold(self.options.threshold, Ns::max);
        let is_over = elapsed >= longest + self.interval + self.interval;
        self.options.once && is_over && self.loans.as_ref().is_none_or(|loans| loans.count() == 0)
    }

    /// Looks, and helps; returns what the look cost.
    fn look(&mut self, notify: &mut dyn FnMut(&GuardEvent)) -> Ns {
        let before = whylate_sys::thread_cpu_time();
        let at = now(Clock::Monotonic);
        let options = self.options;
        let is_suspect = |wait: &Wait| {
            let name = &wait.looked.thread.name;
            options.is_helped(name) && at.since(wait.since).0 * 4 >= options.threshold_of(name).0
        };
        let suspect_cpus = self.waiting.cpus(is_suspect);
        self.is_suspecting = !suspect_cpus.is_empty();
        let look = Look::take(&suspect_cpus);
        self.waiting.update(&look);
        self.sums.follow(&look, &suspect_cpus);
        self.counts.looks += 1;
        self.counts.threads = look.all;
        let tree = FsRoot::live();
        let mut found = Vec::new();
        // A process has many threads that wait, and one group whose files are read.
        let mut stops_of: HashMap<Tid, Option<u64>> = HashMap::new();
        for wait in self.waiting.longest_first() {
            let waited = look.at.since(wait.since);
            let thread = &wait.looked.thread;
            let threshold = options.threshold_of(&thread.name);
            // Without a look at its CPU before this one no culprit can be named. A thread that the kernel moves from one busy
            // CPU to another may never have one: it is helped two looks later.
            let is_named_later = !self.sums.has_window(&look, wait.looked.cpu)
                && waited < threshold + self.interval + self.interval;
            if !options.is_helped(&thread.name) || is_named_later {
                continue;
            }
            let pid = thread.name.pid;
            let stops = *stops_of.entry(pid).or_insert_with(|| quota::stops(&tree, pid));
            let first = *wait.quota_stops.get_or_insert(stops.unwrap_or_default());
            // Its own quota stops it, and it ends that wait itself.
            if stops.is_some_and(|stops| stops > first) {
                continue;
            }
            if waited >= threshold {
                let cpu = wait.looked.cpu;
                let by = self.sums.culprit(&look, cpu, thread);
                found.push(StarvingThread { thread: thread.clone(), cpu, waited, by });
            }
        }
        for starving in found {
            self.help(starving, notify);
        }
        whylate_sys::thread_cpu_time().since(before)
    }

    fn help(&mut self, starving: StarvingThread, notify: &mut dyn FnMut(&GuardEvent)) {
        let key = starving.thread.key();
        let Some(wait) = self.waiting.of(key) else { return };
        if self.loans.as_ref().is_some_and(|loans| loans.has(key)) {
            return;
        }
        self.counts.longest_wait = self.counts.longest_wait.max(starving.waited);
        let mut report = |kind| {
            let event = ThreadEvent { at: now(Clock::Monotonic), starving: starving.clone(), kind };
            notify(&GuardEvent::Thread(event));
        };
        if !wait.is_reported {
            wait.is_reported = true;
            self.counts.starving += 1;
            report(ThreadEventKind::Starving);
        }
        let Some(loans) = self.loans.as_mut().filter(|loans| loans.has_room(starving.cpu)) else { return };
        let Some(kind) = loans.lend(starving.clone()) else { return };
        match kind {
            // It is tried again at each look, and reported once.
            ThreadEventKind::Refused { .. } if wait.is_refused => {}
            ThreadEventKind::Refused { .. } => {
                wait.is_refused = true;
                self.counts.refused += 1;
                report(kind);
            }
            _ => {
                self.counts.boosted += 1;
                report(kind);
            }
        }
    }

    fn counted(&self) -> GuardCounts {
        GuardCounts {
            lent_now: self.loans.as_ref().map_or(0, |loans| loans.count()),
            own_cpu_time: whylate_sys::thread_cpu_time().since(self.cpu_time_before),
            elapsed: now(Clock::Monotonic).since(self.begun),
            ..self.counts
        }
    }
}

/// From one look to the next.
fn interval(options: &GuardOptions, cost: Ns, is_suspecting: bool) -> Ns {
    let wanted = Ns(options.shortest_threshold().0 / 4).clamp(INTERVALS.0, INTERVALS.1);
    let rest = if is_suspecting { REST_SUSPECT } else { REST };
    wanted.max(Ns(cost.0.saturating_mul(rest)))
}

/// A kernel without the sums has zeroes in the file (`proc_pid_schedstat()`, fs/proc/base.c).
fn has_run_times() -> bool {
    // The sum of a thread that has never left its CPU is as old as the last tick.
    std::thread::sleep(Duration::from_millis(1));
    let pid = std::process::id().cast_signed();
    RunTime::read(&FsRoot::live(), pid, Tid(pid)).value.is_ok_and(|time| time.cpu_time > Ns::ZERO)
}

/// What else helps on this machine, and what is not seen.
fn surroundings() -> Vec<String> {
    let tree = FsRoot::live();
    let mut sentences = vec![match protection(&tree) {
        Protection::By(what) => format!(
            "{what}; a guard adds to that: real-time threads that starve behind real-time threads, kernel threads included"
        ),
        Protection::None(evidence) => format!("nothing else helps starving threads: {}", evidence.join("; ")),
        Protection::Unknown(what) => format!("cannot tell what else helps starving threads: {what}"),
    }];
    if select::named(KTHREADD, KTHREADD).is_none_or(|thread| thread.comm != "kthreadd") {
        sentences.push("this is a container: only its own threads are seen and helped".to_owned());
    }
    sentences
}
