//! The loop: reads events, lets the ledger judge them, keeps what is late, and looks after the bounds.

use super::action::{ActionRunner, OnLate};
use super::budget::{BudgetStep, CpuBudget};
use super::error::WatchError;
use super::event_cost;
use super::event_groups::{KindCounts, NONE_COUNTED};
use super::groups::{GroupKey, LateGroups};
use super::late::LateActivation;
use super::late_budget::LateBudget;
use super::options::{WatchOptions, WatchRule, WatchSignals};
use super::report::{KeptWindow, WatchCost, WatchEvent, WatchReport, WatchedName};
use super::store::{WatchStore, WatchStoreError};
use super::stream::EventStream;
use super::threshold::LateThreshold;
use crate::measure::steady_name;
use crate::record::Workload;
use std::sync::atomic::Ordering;
use std::time::Duration;
use whylate_base::{Cpu, Ns};
use whylate_ledger::{Activation, LiveLedger, Markers, Options};
use whylate_sys::Clock;

/// How often events are read. A buffer of 4 MiB fills in this time at 500,000 events a second and CPU.
const POLL: Duration = Duration::from_millis(200);
/// Threads that have slept for so long were done then.
const SETTLED: Ns = Ns::from_ms(50);
/// A window reaches this far beyond the activation.
const AFTER: Ns = Ns::from_ms(2);
/// ... and begins a period and this much before it was due.
const BEFORE: Ns = Ns::from_ms(5);
/// Of long activations it begins earlier: what used up a second's real-time bandwidth is older.
const BEFORE_LONG: Ns = Ns::from_ms(1_100);
const LONG: Ns = Ns::from_ms(5);
/// How often the bounds are looked at, the progress is reported, and the journal is written.
const LOOK: Ns = Ns::from_secs(1);
const SHOW: Ns = Ns::from_secs(2);
const WRITE: Ns = Ns::from_secs(10);
/// The part of the bound on CPU time that is for late activations.
const LATE_PART: f64 = 0.25;
/// Of each group so many windows are kept, then one in this time, and those that are the worst so far.
const FIRST_WINDOWS: u64 = 10;
const NEXT_WINDOW: Ns = Ns::from_secs(60);

/// What is read again at a reload.
pub(super) type Reload<'a> = &'a mut dyn FnMut() -> Result<(Vec<WatchRule>, Option<OnLate>), String>;

/// Watches until the duration is over, the command has ended, or a signal ends it.
///
/// `reload` reads the rules again when the caller's signal handler wants it. `on_event` is called on this thread.
///
/// # Errors
/// [`WatchError`]. Nothing of the tracing is left then; what was kept stays.
pub fn watch(
    options: &WatchOptions,
    signals: &WatchSignals,
    reload: Reload<'_>,
    on_event: &mut dyn FnMut(&WatchEvent<'_>),
) -> Result<WatchReport, WatchError> {
    let mut run = Run::start(options, on_event)?;
    let mut threshold = LateThreshold::new(options.rules.clone());
    loop {
        let end = run.follow(&threshold, signals, reload, on_event)?;
        match end {
            Followed::Ended => break,
            Followed::Reloaded(rules) => threshold = threshold.with_rules(rules),
        }
    }
    run.action.finish();
    if let Some(mut workload) = run.workload.take() {
        if !signals.stop.load(Ordering::Acquire) || signals.alone.load(Ordering::Acquire) {
            workload.terminate();
        }
        if let Err(note) = workload.finish() {
            run.notes.push(note);
        }
    }
    let report = run.report(&threshold, true);
    run.journal(&report);
    // What the last journal could not do is in no journal, but in the answer.
    let failed = run.store.as_ref().map(WatchStore::notes).unwrap_or_default();
    let new = failed.into_iter().filter(|note| !report.notes.contains(note)).collect::<Vec<_>>();
    Ok(WatchReport { notes: report.notes.iter().cloned().chain(new).collect(), ..report })
}

/// How following the stream with one set of rules ended.
enum Followed {
    Ended,
    Reloaded(Vec<WatchRule>),
}

/// A watch at work.
struct Run<'a> {
    options: &'a WatchOptions,
    stream: EventStream,
    store: Option<WatchStore>,
    workload: Option<Workload>,
    groups: LateGroups,
    late_before: u64,
    budget: CpuBudget,
    late_budget: LateBudget,
    action: ActionRunner,
    on_late: Option<OnLate>,
    /// Late activations whose windows are not over yet.
    pending: Vec<Activation>,
    /// When a window of each group was kept last.
    kept_at: Vec<(GroupKey, Ns)>,
    began: Ns,
    started: Ns,
    cpu_at_start: Ns,
    event_ns: Option<f64>,
    /// Nothing is recorded until then.
    paused_until: Option<Ns>,
    paused_since: Ns,
    paused: Ns,
    counts: KindCounts,
    looked: Ns,
    shown: Ns,
    written: Ns,
    notes: Vec<String>,
}

impl<'a> Run<'a> {
    fn start(
        options: &'a WatchOptions,
        on_event: &mut dyn FnMut(&WatchEvent<'_>),
    ) -> Result<Run<'a>, WatchError> {
        let (mut store, mut groups, mut late_before) = (None, LateGroups::default(), 0);
        if let Some(keep) = &options.keep {
            let mut opened = WatchStore::open(&keep.directory, keep.max_bytes)?;
            let previous = match opened.journal_text()? {
                Some(text) => (keep.previous)(&text)
                    .map_err(|why| WatchStoreError::Journal { path: keep.directory.clone(), why })?,
                None => Default::default(),
            };
            late_before = previous.late;
            groups = LateGroups::of(previous.groups);
            opened.resume(previous.kept);
            store = Some(opened);
        }
        let mut stream = EventStream::start(options)?;
        let event_ns = event_cost::measure(&stream);
        let to_stderr = options.command_to_stderr;
        let workload =
            options.command.as_ref().map(|command| Workload::start(command, None, to_stderr, |_| Ok(())));
        let now = whylate_sys::now(Clock::Monotonic);
        let notes = stream.take_notes();
        on_event(&WatchEvent::Started(notes.clone()));
        Ok(Run {
            options,
            store,
            workload: workload.transpose()?,
            groups,
            late_before,
            budget: CpuBudget::new(options.max_cpu * (1.0 - LATE_PART)),
            late_budget: LateBudget::new(options.max_cpu * LATE_PART, now),
            action: ActionRunner::default(),
            on_late: options.on_late.clone(),
            pending: Vec::new(),
            kept_at: Vec::new(),
            began: whylate_sys::now(Clock::Realtime),
            started: now,
            cpu_at_start: cpu_time(),
            event_ns,
            paused_until: None,
            paused_since: now,
            paused: Ns::ZERO,
            counts: NONE_COUNTED,
            looked: now,
            shown: now,
            written: now,
            notes,
            stream,
        })
    }

    fn follow(
        &mut self,
        threshold: &LateThreshold,
        signals: &WatchSignals,
        reload: Reload<'_>,
        on_event: &mut dyn FnMut(&WatchEvent<'_>),
    ) -> Result<Followed, WatchError> {
        let tasks = threshold.rules().iter().filter_map(|rule| rule.threads.clone()).collect();
        let probed = self.options.at.as_ref().map(|place| Markers::of_probes(place.shows()));
        let markers = probed.or_else(|| self.options.markers.clone());
        let options = Options { tasks, deadline: None, worst: 0, markers, ..Options::default() };
        let mut ledger = LiveLedger::new(&options, self.stream.info(), threshold);
        self.stream.introduce(&mut ledger);
        loop {
            let now = whylate_sys::now(Clock::Monotonic);
            if self.is_over(now, signals) {
                self.stream.set_paused(true)?;
                self.stream.pump(&mut ledger, true)?;
                ledger.end();
                self.pending.extend(ledger.take_late());
                self.explain(threshold, Ns::MAX, on_event);
                return Ok(Followed::Ended);
            }
            if signals.reload.swap(false, Ordering::AcqRel) {
                match reload() {
                    Ok((rules, on_late)) => {
                        on_event(&WatchEvent::Reloaded(Ok(rules.len())));
                        self.on_late = on_late;
                        return Ok(Followed::Reloaded(rules));
                    }
                    Err(why) => on_event(&WatchEvent::Reloaded(Err(why))),
                }
            }
            let left = self.options.duration.map_or(Ns::MAX, |duration| duration - (now - self.started));
            std::thread::sleep(POLL.min(Duration::from_nanos(left.0.max(0).unsigned_abs())));
            threshold.explain(self.late_budget.has_room(whylate_sys::now(Clock::Monotonic)));
            let drained = self.stream.pump(&mut ledger, false)?;
            ledger.settle(drained - SETTLED);
            self.pending.extend(ledger.take_late());
            self.explain(threshold, drained, on_event);
            self.action.look();
            self.look_after(threshold, on_event)?;
        }
    }

    fn is_over(&mut self, now: Ns, signals: &WatchSignals) -> bool {
        signals.stop.load(Ordering::Acquire)
            || self.options.duration.is_some_and(|duration| now - self.started >= duration)
            || self.workload.as_mut().is_some_and(Workload::has_ended)
    }

    /// What is to be done every now and then.
    fn look_after(
        &mut self,
        threshold: &LateThreshold,
        on_event: &mut dyn FnMut(&WatchEvent<'_>),
    ) -> Result<(), WatchError> {
        let now = whylate_sys::now(Clock::Monotonic);
        let counts = self.stream.take_counts();
        self.counts.iter_mut().zip(counts).for_each(|(all, new)| *all += new);
        if now - self.looked >= LOOK {
            self.looked = now;
            self.stream.set_threads(threshold.threads())?;
            self.bound(now, on_event)?;
        }
        if now - self.shown >= SHOW {
            self.shown = now;
            let report = self.report(threshold, false);
            on_event(&WatchEvent::Progress(&report));
            if now - self.written >= WRITE {
                self.written = now;
                self.journal(&report);
                whylate_sys::return_free_memory();
            }
        }
        Ok(())
    }

    /// Keeps the bound on CPU time.
    fn bound(&mut self, now: Ns, on_event: &mut dyn FnMut(&WatchEvent<'_>)) -> Result<(), WatchError> {
        if let Some(until) = self.paused_until {
            if now < until {
                return Ok(());
            }
            self.paused_until = None;
            self.paused += now - self.paused_since;
            self.stream.set_paused(false)?;
        }
        let counts = std::mem::replace(&mut self.counts, NONE_COUNTED);
        // What late activations take has a bound of its own.
        let used = cpu_time() - self.cpu_at_start - self.late_budget.spent();
        let step = self.budget.look(now, used, &counts);
        let paused = match step {
            BudgetStep::Stay => return Ok(()),
            BudgetStep::Drop(_) | BudgetStep::Restore(_) => {
                self.stream.drop_groups(self.budget.dropped())?;
                None
            }
            BudgetStep::Pause(pause) => {
                self.stream.set_paused(true)?;
                (self.paused_until, self.paused_since) = (Some(now + pause), now);
                Some(pause)
            }
        };
        on_event(&WatchEvent::Recording { dropped: self.stream.dropped(), paused });
        Ok(())
    }

    /// Groups, keeps and reports the late activations whose windows are over.
    fn explain(&mut self, threshold: &LateThreshold, drained: Ns, on_event: &mut dyn FnMut(&WatchEvent<'_>)) {
        let is_over = |activation: &Activation| drained == Ns::MAX || activation.end + AFTER <= drained;
        let (over, pending) = std::mem::take(&mut self.pending).into_iter().partition(is_over);
        self.pending = pending;
        for activation in over {
            let before = cpu_time();
            self.explain_one(threshold, activation, on_event);
            self.late_budget.spend(cpu_time() - before);
        }
    }

    fn explain_one(
        &mut self,
        threshold: &LateThreshold,
        activation: Activation,
        on_event: &mut dyn FnMut(&WatchEvent<'_>),
    ) {
        let Some(limit) = threshold.take_limit(activation.tid, activation.due) else { return };
        let (now, wall) = (whylate_sys::now(Clock::Monotonic), whylate_sys::now(Clock::Realtime));
        let at = wall - (now - activation.due);
        let culprit = activation.verdict.by.as_ref().map(steady_name);
        let key = GroupKey {
            thread: activation.comm.as_str().to_owned(),
            cause: activation.verdict.cause.code().to_owned(),
            culprit: culprit.clone(),
        };
        let response = activation.response();
        let is_worst = self.groups.worst(&key).is_none_or(|worst| response > worst);
        self.groups.add(key.clone(), activation.due, at, response);
        let mut late = LateActivation {
            at,
            limit,
            activation,
            culprit,
            window: None,
            not_kept: None,
            dropped: self.stream.dropped(),
        };
        if self.store.is_some() {
            match self.keep(threshold, &late, key, is_worst) {
                Ok(name) => late.window = Some(name),
                Err(why) => late.not_kept = Some(why),
            }
        }
        if let Some(on_late) = &self.on_late {
            self.action.run(on_late, &late);
        }
        on_event(&WatchEvent::Late(&late));
    }

    /// Keeps the window of a late activation.
    fn keep(
        &mut self,
        threshold: &LateThreshold,
        late: &LateActivation,
        key: GroupKey,
        is_worst: bool,
    ) -> Result<String, String> {
        let Some(store) = &mut self.store else { return Err(String::new()) };
        let activation = &late.activation;
        let last = self.kept_at.iter().find(|(kept, _)| *kept == key).map(|&(_, at)| at);
        let is_recent = last.is_some_and(|at| activation.due - at < NEXT_WINDOW);
        if self.groups.count(&key) > FIRST_WINDOWS && is_recent && !is_worst {
            return Err("its group has recent windows".to_owned());
        }
        let period = threshold.period_of(activation.tid).unwrap_or(Ns::ZERO).min(BEFORE_LONG);
        let before = if activation.response() >= LONG { BEFORE_LONG } else { BEFORE };
        let capture = self.stream.capture(activation.due - period - before, activation.end + AFTER);
        let begins = |cpu: Cpu| capture.cpu(cpu).and_then(|part| part.begins());
        if begins(activation.cpu).is_none_or(|begins| begins > activation.due) {
            return Err("the pages of that time were overwritten before it ended".to_owned());
        }
        let image = self.stream.image(&capture).map_err(|error| crate::in_full(&error))?;
        let window = KeptWindow {
            name: KeptWindow::file_name(activation.comm.as_str(), activation.response(), late.at),
            bytes: 0,
            thread: key.thread.clone(),
            cause: key.cause.clone(),
            culprit: key.culprit.clone(),
            at: late.at,
            response: activation.response(),
            why: activation.verdict.why.clone(),
        };
        let name = window.name.clone();
        store.save(window, &image, &self.groups)?;
        self.kept_at.retain(|(kept, at)| *kept != key && activation.due - *at < NEXT_WINDOW);
        self.kept_at.push((key, activation.due));
        Ok(name)
    }

    fn journal(&mut self, report: &WatchReport) {
        if let (Some(store), Some(keep)) = (&mut self.store, &self.options.keep) {
            let document = (keep.journal)(report);
            store.journal(&document, &self.groups);
        }
    }

    fn report(&mut self, threshold: &LateThreshold, is_complete: bool) -> WatchReport {
        let now = whylate_sys::now(Clock::Monotonic);
        let mut threads: Vec<WatchedName> = threshold
            .histories()
            .into_iter()
            .map(|(name, history)| WatchedName {
                name: name.as_str().to_owned(),
                activations: history.activations,
                late: history.late,
                limit: history.limit,
                latency: history.latency.histogram(),
                response: history.response.histogram(),
            })
            .collect();
        threads.sort_by(|a, b| b.late.cmp(&a.late).then_with(|| a.name.cmp(&b.name)));
        let (_, late) = threshold.totals();
        let store = self.store.as_ref();
        let mut notes = self.notes.clone();
        notes.extend(store.map(WatchStore::notes).unwrap_or_default());
        notes.extend(self.action.notes());
        let paused_now = self.paused_until.map_or(Ns::ZERO, |_| now - self.paused_since);
        WatchReport {
            began: self.began,
            elapsed: now - self.started,
            threads,
            groups: self.groups.totals(),
            kept: store.map(|store| store.windows().to_vec()).unwrap_or_default(),
            late,
            counted_only: threshold.counted_only(),
            late_before: self.late_before,
            cost: WatchCost {
                cpu: cpu_time() - self.cpu_at_start,
                max_cpu: self.options.max_cpu,
                events: self.stream.events(),
                lost: self.stream.lost(),
                event_ns: self.event_ns,
                memory_kib: memory_kib(),
                disk_bytes: store.map_or(0, WatchStore::bytes),
                paused: self.paused + paused_now,
            },
            dropped: self.stream.dropped().into_iter().map(str::to_owned).collect(),
            notes,
            is_complete,
        }
    }
}

/// The CPU time of this process.
fn cpu_time() -> Ns {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ns::from_secs(time.tv_sec) + Ns(time.tv_nsec)
}

/// The most memory that this process had (`proc_pid_status(5)`).
fn memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
