//! A recording as a model: each thread with its jobs as they were, the interrupts at their instants, the machine.
//!
//! ```text
//! events ──┬─> ledger: when each activation was due and done ─┐
//!          └─> what each thread did (apply, tape)             ┴─> locks ─> jobs ─> Model
//! ```

mod apply;
mod calls;
mod facts;
mod interrupts;
mod jobs;
mod locks;
mod state;
mod tape;
mod ticks;
mod track;
mod watch;

use self::calls::CallNumbers;
use self::state::Reading;
use self::tape::EndedJob;
use crate::model::{Arrival, Model, Step, TaskPolicy};
use thiserror::Error;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Event, EventSource, TraceInfo};
use whylate_ledger::{LiveLedger, Options, Select, is_housekeeping};

use self::watch::Collector;
pub use self::watch::{Charge, ChargedJobs, RanSlice, SeenJob, SeenSource, SeenThread, SourceKey, Watched};

/// More threads than this are not simulated.
const MOST_THREADS: usize = 10_000;

/// What a recording shows, as a model that replays it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The machine, and its threads with their jobs.
    pub model: Model,
    /// The threads, in the order of the model's tasks.
    pub threads: Vec<RecordedThread>,
    /// The first instant, on the trace's clock: zero in the model.
    pub start: Ns,
    /// The length.
    pub length: Ns,
    /// What was lost.
    pub losses: Losses,
    /// What the recording does not have, and what is taken for it.
    pub notes: Vec<String>,
    /// The recording's description of itself.
    pub info: TraceInfo,
    /// Where it is a mean model of a recording: what of.
    pub drawn: Option<DrawnFrom>,
}

/// What a mean model was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnFrom {
    /// The length of the recording.
    pub length: Ns,
    /// The same seed draws the same jobs.
    pub seed: u64,
}

impl Recording {
    /// The seed of its runs: zero where nothing is drawn.
    pub fn seed(&self) -> u64 {
        self.drawn.map_or(0, |drawn| drawn.seed)
    }

    /// True for a thread that is SCHED_FIFO, SCHED_RR or SCHED_DEADLINE at some time, and none of the kernel's housekeeping.
    pub fn is_realtime_program(&self, thread: usize) -> bool {
        let Some((source, task)) = self.threads.get(thread).zip(self.model.tasks.get(thread)) else {
            return false;
        };
        let comm = source.comm.as_str();
        if comm.is_empty() || is_housekeeping(comm) || source.ran <= Ns::ZERO {
            return false;
        }
        let realtime = |scheduling: TaskPolicy| !scheduling.is_fair() && scheduling != TaskPolicy::Stop;
        let Arrival::Recorded(script) = &task.arrival else { return false };
        let later =
            script.steps.iter().any(|step| matches!(step, Step::SetScheduling(other) if realtime(*other)));
        realtime(task.scheduling) || later
    }
}

/// A thread of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedThread {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub comm: Comm,
    /// The CPU time that it had.
    pub ran: Ns,
    /// Activations that were not seen whole, and are no measure of the replay.
    pub cut_off: u64,
}

/// What a recording lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Events that the kernel lost, as far as it counted them.
    pub events: u64,
    /// CPU time of which the recording does not show what had it.
    pub unknown: Ns,
}

/// Why a recording cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// No switches.
    #[error("it has no sched_switch events: which thread ran is not known (record with `whylate record`)")]
    NoSwitches,
    /// Too much for the model.
    #[error(
        "it has {0} threads, and at most {MOST_THREADS} are simulated: cut it with `whylate convert --from --to`"
    )]
    TooManyThreads(usize),
}

/// Reads a recording.
///
/// # Errors
/// [`RecordingError`]
pub fn read(source: impl EventSource) -> Result<Recording, RecordingError> {
    read_watching(source, &[]).map(|(recording, _)| recording)
}

/// Reads a recording, and what the worst cases of the selected threads are composed of; of none: nothing more is kept.
///
/// # Errors
/// [`RecordingError`]
pub fn read_watching(
    mut source: impl EventSource,
    selected: &[Select],
) -> Result<(Recording, Watched), RecordingError> {
    let options = Options { tasks: vec![Select::Pattern("*".to_owned())], worst: 0, ..Options::default() };
    let collector = Collector { selected, ..Collector::default() };
    let mut watched = Watched::default();
    let mut ledger = LiveLedger::new(&options, source.info().clone(), &collector);
    let mut reading = Reading::new();
    reading.watches = !selected.is_empty();
    for (tid, comm) in source.comms() {
        ledger.assume_name(tid, comm);
        reading.index_of(tid, comm);
    }
    reading.calls = source.info().machine.as_deref().and_then(CallNumbers::of);
    reading.preempt_rt = reading.facts.is_preempt_rt(source.info());
    loop {
        let batch = source.next_batch();
        if batch.is_empty() {
            break;
        }
        for event in batch {
            take(event, &mut ledger, &collector, &mut reading);
        }
        charge(&mut ledger, &mut watched);
        reading.preempt_rt = reading.facts.is_preempt_rt(source.info());
    }
    let info = source.info().clone();
    let end = info.span.map_or(reading.now, |(_, last)| last.max(reading.now));
    reading.end(end);
    ledger.settle(end);
    ledger.end();
    collect(&collector, &mut reading);
    charge(&mut ledger, &mut watched);
    for tape in &mut reading.tapes {
        watched.threads.push(std::mem::take(&mut tape.seen));
    }
    finish(reading, info, end).map(|recording| (recording, watched))
}

/// Takes in what the ledger has charged.
fn charge(ledger: &mut LiveLedger<'_>, watched: &mut Watched) {
    for activation in ledger.take_late() {
        watched.charged.entry(activation.tid).or_default().add(&activation);
    }
}

fn take(event: &Event, ledger: &mut LiveLedger<'_>, collector: &Collector<'_>, reading: &mut Reading) {
    if reading.first.is_none() {
        reading.first = Some(event.ts);
        reading.now = event.ts;
    }
    ledger.apply(event);
    if !collector.ended.borrow().is_empty() {
        reading.now = event.ts.max(reading.now);
        collect(collector, reading);
    }
    reading.apply(event);
}

fn collect(collector: &Collector<'_>, reading: &mut Reading) {
    for ended in collector.ended.borrow_mut().drain(..) {
        let Some(thread) = reading.known(ended.tid) else { continue };
        reading.account_thread(thread);
        let response = ended.is_whole.then(|| ended.response());
        let job = EndedJob { due: ended.due, response, by_timer: ended.may_be_periodic };
        if reading.watches {
            reading.tapes[thread].seen_job(&ended);
        }
        reading.tapes[thread].end_job(ended.end, job);
    }
}

fn finish(mut reading: Reading, info: TraceInfo, end: Ns) -> Result<Recording, RecordingError> {
    if reading.switches == 0 {
        return Err(RecordingError::NoSwitches);
    }
    let active = (0..reading.tapes.len()).filter(|&thread| reading.is_active(thread)).count();
    if active > MOST_THREADS {
        return Err(RecordingError::TooManyThreads(active));
    }
    let start = reading.first.unwrap_or(Ns::ZERO);
    let length = (end - start).max(Ns(1));
    let seen = u32::try_from(reading.tracks.len()).unwrap_or(1);
    let cpus = info.cpus.max(seen).max(1);
    let (mut machine, mut notes) = reading.facts.machine(&info, cpus, start, &reading.timers);
    machine.interrupts_count = reading.interrupts_count(&machine);
    machine.rt_used = reading.rt_used_before(&machine, start);
    let locks = locks::insert(&mut reading.tapes);
    let names = names(&reading);
    let gap = Ns::from_ms(10);
    let mut tasks = Vec::with_capacity(reading.tapes.len());
    let mut threads = Vec::with_capacity(reading.tapes.len());
    let mut assumed = 0;
    for (tape, name) in reading.tapes.iter().zip(names) {
        let pinned = jobs::cpu_in_name(tape.comm.as_str());
        let task = jobs::task(tape, name, start, gap, cpus);
        let is_known = tape.affinity_after(0).known.is_some() || pinned.is_some();
        assumed += usize::from(!is_known && tape.ran > Ns::ZERO);
        let Arrival::Recorded(script) = &task.arrival else { continue };
        let cut_off = script.jobs.iter().filter(|job| job.response.is_none()).count() as u64;
        threads.push(RecordedThread { tid: tape.tid, comm: tape.comm, ran: tape.ran, cut_off });
        tasks.push(task);
    }
    if assumed > 0 && cpus > 1 {
        notes.push(format!(
            "the recording does not have the CPUs of {assumed} threads: one that waits for its CPU while another is idle \
             stays there, the others may move"
        ));
    }
    let interrupts = interrupts::of(reading.series, start);
    let losses = Losses { events: info.lost_events, unknown: reading.unknown };
    let model = Model { machine, tasks, locks, interrupts, groups: Vec::new() };
    Ok(Recording { model, threads, start, length, losses, notes, info, drawn: None })
}

/// Names by which threads are told apart: with the id where two have the same.
fn names(reading: &Reading) -> Vec<String> {
    let mut counts = rustc_hash::FxHashMap::default();
    for tape in &reading.tapes {
        *counts.entry(tape.comm).or_insert(0u32) += 1;
    }
    let name = |tape: &tape::Tape| match counts.get(&tape.comm) {
        Some(1) if !tape.comm.is_empty() => tape.comm.as_str().to_owned(),
        _ => format!("{}:{}", tape.comm.as_str(), tape.tid),
    };
    reading.tapes.iter().map(name).collect()
}
