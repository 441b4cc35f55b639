//! The typed events of a trace.dat.

use super::cpu_events::CpuEvents;
use super::merger::Merger;
use super::read_ahead::ReadAhead;
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Tid};
use whylate_events::{Context, Damage, Event, EventKind, EventSource, KindSet, TraceInfo};

/// All events of a trace.dat in time order.
pub struct TraceEvents {
    merged: Merged,
    /// CPUs of which the last events are gone, or all, and how many.
    gone: Vec<(Cpu, u64)>,
    info: TraceInfo,
    comms: Vec<(Tid, Comm)>,
}

/// The streams of all CPUs in one.
enum Merged {
    Here(Box<Merger>),
    Ahead(ReadAhead),
}

impl Merged {
    #[inline]
    fn is_at_end(&mut self) -> bool {
        match self {
            Merged::Here(merger) => merger.is_at_end(),
            Merged::Ahead(ahead) => ahead.is_at_end(),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<&Event> {
        match self {
            Merged::Here(merger) => merger.next(),
            Merged::Ahead(ahead) => ahead.next(),
        }
    }

    fn rest(&mut self) -> &[Event] {
        match self {
            Merged::Here(merger) => merger.next().map_or(&[], std::slice::from_ref),
            Merged::Ahead(ahead) => ahead.rest(),
        }
    }

    fn ended(&mut self) -> Vec<CpuEvents> {
        match self {
            Merged::Here(merger) => merger.ended(),
            Merged::Ahead(ahead) => ahead.ended(),
        }
    }

    fn end_with(&mut self, events: Vec<Event>) {
        match self {
            Merged::Here(merger) => merger.end_with(events),
            Merged::Ahead(ahead) => ahead.end_with(events),
        }
    }
}

impl TraceEvents {
    /// Reads on up to `threads` threads besides the consumer's own: one merges, the others decode.
    ///
    /// `gone` are CPUs of which the last events are gone, or all: that loss is reported at the end.
    pub(super) fn new(
        info: TraceInfo,
        streams: Vec<CpuEvents>,
        threads: usize,
        comms: Vec<(Tid, Comm)>,
        gone: Vec<(Cpu, u64)>,
    ) -> TraceEvents {
        let merger = Box::new(Merger::new(streams, threads.saturating_sub(1)));
        let merged = match threads {
            0 => Merged::Here(merger),
            _ => ReadAhead::start(merger).map_or_else(Merged::Here, Merged::Ahead),
        };
        TraceEvents { merged, gone, info, comms }
    }

    /// True when there is no event left; the info is complete then.
    #[inline]
    fn is_at_end(&mut self) -> bool {
        while self.merged.is_at_end() {
            if !self.complete() {
                return true;
            }
        }
        false
    }

    /// Adds what the streams saw to the info; they are at their end. True where there is more: of a CPU
    /// whose data breaks off, the rest of the recording is lost.
    #[cold]
    fn complete(&mut self) -> bool {
        let mut ended = self.merged.ended();
        if ended.is_empty() {
            return false;
        }
        // By CPU, not in the order they ended.
        ended.sort_by_key(|stream| stream.order);
        let mut without_format = BTreeMap::<u16, u64>::new();
        let gone = std::mem::take(&mut self.gone);
        let end = ended.iter().filter_map(|stream| stream.span).map(|(_, last)| last).max();
        let mut tail = Vec::new();
        for stream in &mut ended {
            tail.extend(stream.tail_loss(end.unwrap_or_default()));
            stream.add_to(&mut self.info);
            for (&id, &count) in stream.without_format() {
                *without_format.entry(id).or_default() += count;
            }
        }
        for (id, count) in without_format {
            let what = format!("{count} events have id {id}, which the file has no format for: counted only");
            self.info.damage.push(Damage::whole(what));
        }
        let reported: Vec<Cpu> = tail.iter().map(|event: &Event| event.cpu).collect();
        let gone = gone.into_iter().filter(|(cpu, _)| !reported.contains(cpu));
        tail.extend(gone.map(|(cpu, count)| {
            let kind = EventKind::Lost { count: Some(count), since: None, kinds: KindSet::NONE };
            Event { ts: end.unwrap_or_default(), cpu, context: Context::default(), kind }
        }));
        self.merged.end_with(tail);
        true
    }
}

impl EventSource for TraceEvents {
    fn next_event(&mut self) -> Option<&Event> {
        if self.is_at_end() { None } else { self.merged.next() }
    }

    fn next_batch(&mut self) -> &[Event] {
        if self.is_at_end() { &[] } else { self.merged.rest() }
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.comms.clone()
    }
}

impl Iterator for TraceEvents {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.next_event().copied()
    }
}
