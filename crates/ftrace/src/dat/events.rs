//! The typed events of a trace.dat.

use super::cpu_events::CpuEvents;
use super::merge::Merge;
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Tid};
use whylate_events::{
    Context, Damage, Event, EventBatch, EventKind, EventSource, FillBatch, KindSet, ReadAhead, TraceInfo,
};

/// All events of a trace.dat in time order.
pub struct TraceEvents {
    merged: Merged,
    batch: EventBatch,
    /// CPUs of which the last events are gone, or all, and how many.
    gone: Vec<(Cpu, u64)>,
    info: TraceInfo,
    comms: Vec<(Tid, Comm)>,
}

/// The streams of all CPUs in one.
enum Merged {
    Here(Box<Merge>),
    Ahead(ReadAhead<Merge>),
    Ended,
}

impl Merged {
    /// The next events, in place of `used` ones; none at the end.
    fn next_batch(&mut self, mut used: Vec<Event>) -> Vec<Event> {
        match self {
            Merged::Here(merge) => {
                merge.fill(&mut used);
                used
            }
            Merged::Ahead(ahead) => ahead.exchange(used),
            Merged::Ended => Vec::new(),
        }
    }

    /// The streams, which have ended; only the first call returns them.
    fn ended(&mut self) -> Vec<CpuEvents> {
        match std::mem::replace(self, Merged::Ended) {
            Merged::Here(merge) => merge.into_ended(),
            Merged::Ahead(mut ahead) => ahead.ended().map_or_else(Vec::new, |merge| merge.into_ended()),
            Merged::Ended => Vec::new(),
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
        let merge = Box::new(Merge::new(streams, threads.saturating_sub(1)));
        let merged = match threads {
            0 => Merged::Here(merge),
            _ => ReadAhead::start(merge, "whylate-merge").map_or_else(Merged::Here, Merged::Ahead),
        };
        TraceEvents { merged, batch: EventBatch::default(), gone, info, comms }
    }

    /// Gets the next events where none is at hand. Where there are none, the info is complete.
    #[inline]
    fn fill(&mut self) {
        if self.batch.is_used_up() {
            self.refill();
        }
    }

    #[cold]
    fn refill(&mut self) {
        self.batch.replace(|used| self.merged.next_batch(used));
        if self.batch.is_used_up() {
            self.complete();
        }
    }

    /// Adds what the streams saw to the info; they are at their end. There may be more: of a CPU
    /// whose data breaks off, the rest of the recording is lost.
    #[cold]
    fn complete(&mut self) {
        let mut ended = self.merged.ended();
        if ended.is_empty() {
            return;
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
        self.batch.replace(|_| tail);
    }
}

impl EventSource for TraceEvents {
    fn next_event(&mut self) -> Option<&Event> {
        self.fill();
        self.batch.take_next()
    }

    fn next_batch(&mut self) -> &[Event] {
        self.fill();
        self.batch.take_rest()
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
