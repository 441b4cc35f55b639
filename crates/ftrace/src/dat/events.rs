//! The typed events of a trace.dat.

use super::container::TscToNs;
use super::cpu::CpuRecords;
use crate::decode::Decoders;
use crate::symbols::SymbolCache;
use std::collections::BTreeMap;
use std::sync::Arc;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Damage, Event, EventKind, EventSource, Kind, KindSet, Merge, TraceInfo};

/// A gap in one CPU's buffer, as of [`EventKind::Lost`].
#[derive(Clone, Copy)]
struct Loss {
    count: Option<u64>,
    since: Option<Ns>,
    kinds: KindSet,
}

/// The events of one CPU of one buffer, in time order. Streams of different CPUs share
/// nothing that changes, so each may be read on a thread of its own.
pub struct CpuEvents {
    records: CpuRecords,
    decoders: Arc<Decoders>,
    names: SymbolCache,
    tsc: Option<TscToNs>,
    wanted: KindSet,
    /// The event behind a loss that was just reported.
    pending: Option<Event>,
    /// Events that were passed over since the last loss was noted, but not the loss.
    lost: Option<Loss>,
    events: u64,
    seen: KindSet,
    span: Option<(Ns, Ns)>,
    short: u64,
    without_format: BTreeMap<u16, u64>,
}

impl CpuEvents {
    pub(super) fn new(
        records: CpuRecords,
        decoders: Arc<Decoders>,
        names: SymbolCache,
        tsc: Option<TscToNs>,
        wanted: KindSet,
    ) -> CpuEvents {
        CpuEvents {
            records,
            decoders,
            names,
            tsc,
            wanted,
            pending: None,
            lost: None,
            events: 0,
            seen: KindSet::NONE,
            span: None,
            short: 0,
            without_format: BTreeMap::new(),
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
        info.span = match (info.span, self.span) {
            (Some((first, last)), Some((mine_first, mine_last))) => {
                Some((first.min(mine_first), last.max(mine_last)))
            }
            (span, mine) => span.or(mine),
        };
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
    fn note_lost(&mut self, event: &Event, lost: Loss) -> Option<Event> {
        let kind = EventKind::Lost { count: lost.count, since: lost.since, kinds: lost.kinds };
        self.seen.insert(Kind::Lost);
        self.wanted.contains(Kind::Lost).then_some(Event { kind, ..*event })
    }
}

impl Iterator for CpuEvents {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.pending.take() {
            return Some(event);
        }
        loop {
            let record = self.records.next()?;
            if let Some(lost) = self.records.take_lost() {
                self.lost = Some(Loss {
                    count: lost.count,
                    since: self.span.map(|(_, last)| last),
                    kinds: self.seen,
                });
            }
            let bytes = self.records.bytes(&record);
            let Some(id) = self.decoders.id(bytes) else {
                self.records.bad_record(&record, "an event is too short to have an id: skipped");
                continue;
            };
            self.events += 1;
            let ts = Ns(match self.tsc {
                None => record.timestamp,
                Some(tsc) => tsc.ns(record.timestamp),
            } as i64);
            self.span = Some((self.span.map_or(ts, |(first, _)| first), ts));
            let known = self.decoders.kind(id);
            let kind = match known {
                Some(kind) => kind,
                None => self.note_without_format(id),
            };
            self.seen.insert(kind);
            let wanted = self.wanted.contains(kind);
            if !wanted && self.lost.is_none() {
                continue;
            }
            let bytes = self.records.bytes(&record);
            let context = self.decoders.context(bytes);
            let decoded = self.decoders.decode(id, bytes, &mut self.names);
            let kind = decoded.unwrap_or_else(|| {
                self.short += 1;
                EventKind::Other
            });
            let event = Event { ts, cpu: self.records.cpu, context, kind };
            if let Some(lost) = self.lost.take()
                && let Some(lost) = self.note_lost(&event, lost)
            {
                self.pending = wanted.then_some(event);
                return Some(lost);
            }
            if wanted {
                return Some(event);
            }
        }
    }
}

/// All events of a trace.dat in time order.
pub struct TraceEvents {
    merge: Merge<CpuEvents>,
    /// The last event handed out.
    event: Option<Event>,
    info: TraceInfo,
    comms: Vec<(Tid, Comm)>,
    complete: bool,
}

impl TraceEvents {
    pub(super) fn new(info: TraceInfo, streams: Vec<CpuEvents>, comms: Vec<(Tid, Comm)>) -> TraceEvents {
        TraceEvents { merge: Merge::new(streams), event: None, info, comms, complete: false }
    }

    #[cold]
    fn complete(&mut self) {
        if std::mem::replace(&mut self.complete, true) {
            return;
        }
        let mut without_format = BTreeMap::<u16, u64>::new();
        for stream in self.merge.streams() {
            stream.add_to(&mut self.info);
            for (&id, &count) in stream.without_format() {
                *without_format.entry(id).or_default() += count;
            }
        }
        for (id, count) in without_format {
            let what = format!("{count} events have id {id}, which the file has no format for: counted only");
            self.info.damage.push(Damage::whole(what));
        }
    }
}

impl EventSource for TraceEvents {
    #[inline]
    fn next_event(&mut self) -> Option<&Event> {
        self.event = self.merge.next();
        if self.event.is_none() {
            self.complete();
        }
        self.event.as_ref()
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
