//! The typed events of one CPU of one buffer.

use super::cpu::{CpuRecord, CpuRecords};
use super::time::CpuTimes;
use crate::decode::Decoders;
use crate::page::LostBefore;
use crate::symbols::SymbolCache;
use std::collections::BTreeMap;
use std::sync::Arc;
use whylate_base::{Cpu, Ns};
use whylate_events::{Context, Damage, Event, EventKind, Kind, KindSet, TraceInfo};

/// The events of one CPU of one buffer, in time order. Streams of different CPUs share
/// nothing that changes, so each may be read on a thread of its own.
pub struct CpuEvents {
    /// Its place among the streams of its file.
    pub(super) order: usize,
    records: CpuRecords,
    decoders: Arc<Decoders>,
    names: SymbolCache,
    times: Option<CpuTimes>,
    wanted: KindSet,
    /// A loss to be reported before the next event.
    lost: Option<EventKind>,
    events: u64,
    seen: KindSet,
    pub(super) span: Option<(Ns, Ns)>,
    short: u64,
    without_format: BTreeMap<u16, u64>,
    head: Head,
}

impl CpuEvents {
    pub(super) fn new(
        order: usize,
        records: CpuRecords,
        decoders: Arc<Decoders>,
        names: SymbolCache,
        times: Option<CpuTimes>,
        wanted: KindSet,
    ) -> CpuEvents {
        CpuEvents {
            order,
            records,
            decoders,
            names,
            times,
            wanted,
            lost: None,
            events: 0,
            seen: KindSet::NONE,
            span: None,
            short: 0,
            without_format: BTreeMap::new(),
            head: Head::default(),
        }
    }

    /// The CPU.
    pub fn cpu(&self) -> Cpu {
        self.records.cpu
    }

    /// Adds what this CPU saw to the info of the whole recording; complete once the
    /// stream has ended.
    pub fn add_to(&self, info: &mut TraceInfo) {
        info.events += self.events;
        info.lost_events = info.lost_events.saturating_add(self.records.lost_events);
        info.recorded = Some(info.recorded.unwrap_or(KindSet::NONE).union(self.seen));
        if let Some(span) = self.span {
            info.cover(span);
        }
        info.damage.extend(self.records.all_damage());
        if self.short > 0 {
            let what = format!("CPU {}: {} events are shorter than their format", self.cpu(), self.short);
            info.damage.push(Damage::whole(what));
        }
    }

    /// How many events had an id that the recording has no format for.
    pub(super) fn without_format(&self) -> &BTreeMap<u16, u64> {
        &self.without_format
    }

    #[cold]
    fn note_without_format(&mut self, id: u16) -> Kind {
        *self.without_format.entry(id).or_default() += 1;
        Kind::Other
    }

    #[cold]
    fn note_lost(&mut self, lost: LostBefore) {
        let since = self.span.map(|(_, last)| last);
        self.lost = Some(EventKind::Lost { count: lost.count, since, kinds: self.seen });
    }

    /// What is lost behind the last event, where the recording ends at `end`.
    #[cold]
    pub(super) fn tail_loss(&mut self, end: Ns) -> Option<Event> {
        if let Some(lost) = self.records.take_lost() {
            self.note_lost(lost);
        }
        let kind = self.lost.take()?;
        self.seen.insert(Kind::Lost);
        let cpu = self.records.cpu;
        self.wanted.contains(Kind::Lost).then_some(Event { ts: end, cpu, context: Context::default(), kind })
    }

    /// Decodes the next events into `batch`, about `size` of them, in place of what is there. It stays empty
    /// at the stream's end.
    pub fn fill(&mut self, batch: &mut Vec<Event>, size: usize) {
        self.fill_timed(batch, &mut Vec::new(), size);
    }

    /// The same, with the time of each.
    pub(super) fn fill_timed(&mut self, batch: &mut Vec<Event>, times: &mut Vec<i64>, size: usize) {
        batch.clear();
        times.clear();
        // A loss and the event behind it come together, and are of one time.
        batch.reserve(size + 1);
        times.reserve(size + 1);
        while batch.len() < size
            && let Some(now) = self.advance()
        {
            self.decode_head(batch);
            times.resize(batch.len(), now);
        }
    }

    /// Goes to the next record that is wanted or behind a loss, and returns its time; `None` at the end.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<i64> {
        loop {
            let record = self.records.next()?;
            if self.records.has_lost()
                && let Some(lost) = self.records.take_lost()
            {
                self.note_lost(lost);
            }
            let Some(id) = self.decoders.id(self.records.bytes(&record)) else {
                self.records.bad_record(&record, "an event is too short to have an id: skipped");
                continue;
            };
            self.events += 1;
            let ts = match &self.times {
                None => Ns(record.timestamp as i64),
                // Where a guest's clock is corrected anew, time may step back.
                Some(times) => {
                    times.ns(record.timestamp).max(self.span.map_or(Ns(i64::MIN), |(_, last)| last))
                }
            };
            match &mut self.span {
                Some((_, last)) => *last = ts,
                None => self.span = Some((ts, ts)),
            }
            let kind = match self.decoders.kind(id) {
                Some(kind) => kind,
                None => self.note_without_format(id),
            };
            self.seen.insert(kind);
            let wanted = self.wanted.contains(kind);
            if wanted || self.lost.is_some() {
                self.head = Head { ts, id, wanted, record };
                return Some(ts.0);
            }
        }
    }

    /// Decodes the record that [`advance`](Self::advance) went to into `batch`, behind the loss before it.
    #[inline]
    pub(super) fn decode_head(&mut self, batch: &mut Vec<Event>) {
        let Head { ts, id, wanted, ref record } = self.head;
        let bytes = self.records.bytes(record);
        let context = self.decoders.context(bytes);
        let cpu = self.records.cpu;
        if let Some(kind) = self.lost.take() {
            self.seen.insert(Kind::Lost);
            if self.wanted.contains(Kind::Lost) {
                batch.push(Event { ts, cpu, context, kind });
            }
        }
        if wanted {
            let head = (ts, cpu, context);
            if self.decoders.decode_to(id, bytes, &mut self.names, head, batch).is_none() {
                self.short += 1;
                batch.push(Event { ts, cpu, context, kind: EventKind::Other });
            }
        }
    }
}

/// The record that is decoded next.
#[derive(Default)]
struct Head {
    ts: Ns,
    id: u16,
    wanted: bool,
    record: CpuRecord,
}
