//! The events of the machine as one stream without end, in time order, and which kinds of them are recorded.

use super::error::WatchError;
use super::event_groups::{GROUPS, KindCounts, NONE_COUNTED, without};
use super::options::WatchOptions;
use crate::flight::{Capture, CaptureFile, FlightRecorder, FreshPages, ReadError, Reader, StreamPosition};
use crate::record::{SessionOptions, THREAD_EVENTS};
use std::collections::VecDeque;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Context, Event, EventKind, EventSource, Fact, Kind, KindSet, Marker, TraceInfo};
use whylate_ftrace::tracefs::TracefsError;
use whylate_ledger::{LiveLedger, WANTED};
use whylate_sys::Clock;

/// What the windows of all CPUs take together.
const WINDOW_BYTES: u64 = 16 << 20;
/// Pages are read in parts of this size: after a time without the CPU all of a window's may be fresh, and a reader copies them.
const PART_BYTES: usize = 1 << 20;
/// Threads whose system calls are recorded: a filter is a text of a page at most (`kernel/trace/trace_events_filter.c`).
const MOST_FILTERED: usize = 100;
/// No thread has this id.
const NONE: &str = "common_pid == -1";

/// See the module.
pub(super) struct EventStream {
    recorder: FlightRecorder,
    reader: Reader,
    position: StreamPosition,
    /// Events of the last drain that others may still come before, in order.
    held: Vec<Event>,
    /// What changed in the recording and the ledger does not know yet, in order.
    changes: VecDeque<(Ns, RecordingChange)>,
    counts: KindCounts,
    lost: u64,
    info: TraceInfo,
    recorded: KindSet,
    dropped: Vec<usize>,
    /// The events of system calls and page faults, with the threads whose are recorded.
    calls: Vec<String>,
    filtered: Vec<Tid>,
    cpus: Vec<Cpu>,
    /// No event that is still to come is earlier.
    complete_until: Ns,
}

/// What changed in the recording at an instant.
enum RecordingChange {
    /// These kinds of events are recorded now.
    Kinds(KindSet),
    /// It goes on after a pause.
    Resumed,
}

impl EventStream {
    pub(super) fn start(options: &WatchOptions) -> Result<EventStream, WatchError> {
        let session = SessionOptions {
            clock: Some("mono".to_owned()),
            thread_events: false,
            markers: options.markers.is_some(),
            at: options.at.clone(),
            ..SessionOptions::default()
        };
        let began = whylate_sys::now(Clock::Monotonic);
        let mut recorder = FlightRecorder::start_stream(session, options.buffer_kib, WINDOW_BYTES)?;
        let calls = match options.calls {
            true => {
                let events: Vec<String> = THREAD_EVENTS.iter().map(|&event| event.to_owned()).collect();
                recorder.session_mut().enable(&events, Some(NONE))?
            }
            false => Vec::new(),
        };
        let reader = recorder.stream_reader()?;
        let cpus = recorder.session().main().cpus()?;
        let info =
            reader.open_next(&recorder.fresh(&mut StreamPosition::default()))?.events(WANTED).info().clone();
        let recorded = info.recorded.unwrap_or(KindSet::NONE);
        Ok(EventStream {
            recorder,
            reader,
            position: StreamPosition::default(),
            held: Vec::new(),
            changes: VecDeque::new(),
            counts: NONE_COUNTED,
            lost: 0,
            info,
            recorded,
            dropped: Vec::new(),
            calls,
            filtered: Vec::new(),
            cpus,
            complete_until: began,
        })
    }

    /// What a new ledger is to know: the stream's description, the names of threads, and the facts of the machine.
    pub(super) fn info(&self) -> TraceInfo {
        TraceInfo { recorded: Some(self.recorded()), ..self.info.clone() }
    }

    pub(super) fn introduce(&self, ledger: &mut LiveLedger<'_>) {
        self.reader.thread_names().for_each(|(tid, name)| ledger.assume_name(tid, Comm::from(name)));
        // Not now: events have been recorded since, and to the ledger they would all happen at the instant of the facts.
        for fact in self.reader.facts() {
            ledger.apply(&marker(self.complete_until, fact));
        }
    }

    /// Hands the events that have come to the ledger. Everything up to the returned instant is in it.
    pub(super) fn pump(&mut self, ledger: &mut LiveLedger<'_>, is_last: bool) -> Result<Ns, WatchError> {
        let drained = self.recorder.drain()?;
        let until = if is_last { Ns::MAX } else { drained };
        for part in self.recorder.fresh(&mut self.position).in_parts(PART_BYTES) {
            self.read(&part.pages, part.complete_until.min(until), ledger)?;
        }
        self.complete_until = drained;
        Ok(drained)
    }

    /// Hands the events of pages to the ledger, with those that are held, as far as no later page has earlier ones.
    fn read(&mut self, pages: &FreshPages, until: Ns, ledger: &mut LiveLedger<'_>) -> Result<(), WatchError> {
        let mut events = self.reader.open_next(pages)?.events(WANTED);
        let mut held = std::mem::take(&mut self.held).into_iter().peekable();
        loop {
            let batch = events.next_batch();
            if batch.is_empty() {
                break;
            }
            for event in batch {
                self.counts[event.kind.kind() as usize] += 1;
                if let EventKind::Lost { count, .. } = event.kind {
                    self.lost += count.unwrap_or(1);
                }
                if event.ts >= until {
                    self.held.push(*event);
                    continue;
                }
                while let Some(earlier) = held.next_if(|earlier| earlier.ts <= event.ts) {
                    hand_over(&mut self.changes, &earlier, ledger);
                }
                hand_over(&mut self.changes, event, ledger);
            }
        }
        while let Some(earlier) = held.next_if(|earlier| earlier.ts < until) {
            hand_over(&mut self.changes, &earlier, ledger);
        }
        self.held.extend(held);
        self.held.sort_by_key(|event| event.ts);
        Ok(())
    }

    /// Events by kind since the last call.
    pub(super) fn take_counts(&mut self) -> KindCounts {
        std::mem::replace(&mut self.counts, NONE_COUNTED)
    }

    /// Events that the kernel overwrote before they were read.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// The kinds of events that are recorded now.
    pub(super) fn recorded(&self) -> KindSet {
        without(self.recorded, &self.dropped)
    }

    /// The names of the groups of events that are not recorded now.
    pub(super) fn dropped(&self) -> Vec<&'static str> {
        self.dropped.iter().map(|&group| GROUPS[group].name).collect()
    }

    /// Records the events of these groups no more, and those of all others.
    pub(super) fn drop_groups(&mut self, dropped: Vec<usize>) -> Result<(), TracefsError> {
        let session = self.recorder.session_mut();
        let all = session.events().to_vec();
        for (group, events) in GROUPS.iter().enumerate().map(|(at, group)| (at, group.events(&all))) {
            match (self.dropped.contains(&group), dropped.contains(&group)) {
                (false, true) => session.disable(&events)?,
                (true, false) => drop(session.enable(&events, None)?),
                _ => {}
            }
        }
        let left_out: Vec<String> = dropped.iter().flat_map(|&group| GROUPS[group].events(&all)).collect();
        self.reader.leave_out(&left_out);
        self.dropped = dropped;
        let at = self.break_stream();
        self.changes.push_back((at, RecordingChange::Kinds(self.recorded())));
        Ok(())
    }

    /// Stops or continues the recording.
    pub(super) fn set_paused(&mut self, paused: bool) -> Result<(), TracefsError> {
        if !paused {
            // Before the first event that comes.
            let at = whylate_sys::now(Clock::Monotonic);
            self.changes.push_back((at, RecordingChange::Resumed));
        }
        self.recorder.session().main().set_tracing(!paused)?;
        self.break_stream();
        Ok(())
    }

    /// What was so before this instant, which it returns, need not be so after it: events in between may be missing.
    fn break_stream(&mut self) -> Ns {
        let ts = whylate_sys::now(Clock::Monotonic);
        let kind = EventKind::Lost { count: None, since: None, kinds: KindSet::NONE };
        let lost = |&cpu: &Cpu| Event { ts, cpu, context: Context::default(), kind };
        self.held.extend(self.cpus.iter().map(lost));
        ts
    }

    /// Records the system calls and page faults of these threads, and of no others.
    pub(super) fn set_threads(&mut self, mut threads: Vec<Tid>) -> Result<(), TracefsError> {
        threads.truncate(MOST_FILTERED);
        threads.sort_unstable();
        if self.calls.is_empty() || threads == self.filtered {
            return Ok(());
        }
        let one = |tid: &Tid| format!("common_pid == {tid}");
        let filter = match threads.is_empty() {
            true => NONE.to_owned(),
            false => threads.iter().map(one).collect::<Vec<_>>().join(" || "),
        };
        let main = self.recorder.session().main();
        self.calls.iter().try_for_each(|event| main.set_filter(event, &filter))?;
        self.filtered = threads;
        Ok(())
    }

    /// The trace of a time, which must have been drained.
    pub(super) fn capture(&self, from: Ns, to: Ns) -> Capture {
        self.recorder.capture(from, to)
    }

    /// A capture as a file.
    pub(super) fn image<'a>(&'a self, capture: &'a Capture) -> Result<CaptureFile<'a>, ReadError> {
        self.reader.image(capture)
    }

    /// All events that were recorded.
    pub(super) fn events(&self) -> u64 {
        self.recorder.recorded().unwrap_or(0)
    }

    /// The recorder, to measure what an event costs.
    pub(super) fn recorder(&self) -> &FlightRecorder {
        &self.recorder
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// What was not recorded and why.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        self.recorder.take_notes()
    }
}

/// Hands the next event to the ledger, after what changed before it.
fn hand_over(changes: &mut VecDeque<(Ns, RecordingChange)>, event: &Event, ledger: &mut LiveLedger<'_>) {
    while changes.front().is_some_and(|(at, _)| *at <= event.ts)
        && let Some((at, change)) = changes.pop_front()
    {
        match change {
            RecordingChange::Kinds(recorded) => ledger.set_recorded(recorded),
            RecordingChange::Resumed => ledger.resumes(at),
        }
    }
    ledger.apply(event);
}

fn marker(ts: Ns, fact: &Fact) -> Event {
    let kind = EventKind::Marker(Marker::from(fact.to_string().as_str()));
    debug_assert!(matches!(kind.kind(), Kind::Marker));
    Event { ts, cpu: Cpu::default(), context: Context::default(), kind }
}
