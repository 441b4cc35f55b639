//! The events of a trace.dat as they were recorded: every field by name.

use super::cpu::{CpuRecord, CpuRecords};
use super::time::CpuTimes;
use crate::bytes::Endian;
use crate::decode::Decoders;
use crate::format::{EventFormat, EventFormats};
use crate::page::LostBefore;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use whylate_base::{Cpu, Ns};
use whylate_events::Context;

/// One recorded event.
#[derive(Clone)]
pub struct RawEvent<'r> {
    /// When, on the trace clock.
    pub ts: Ns,
    /// Where.
    pub cpu: Cpu,
    /// Which of the file's buffers it is from, as an index into `TraceFile::buffers`.
    pub buffer: usize,
    /// The thread that was current there.
    pub context: Context,
    /// Its `common_type`.
    pub id: u16,
    /// Its format; `None` where the file has none for this id.
    pub format: Option<&'r Arc<EventFormat>>,
    /// All its bytes, the common fields first.
    pub payload: &'r [u8],
    /// Events that the kernel lost on this CPU just before this one.
    pub lost: Option<LostBefore>,
    endian: Endian,
}

impl<'r> RawEvent<'r> {
    /// The integer field `name`, widened with its sign.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.format?.field(name)?.int(self.endian, self.payload)
    }

    /// The bytes of the field `name`, wherever the record keeps them.
    pub fn bytes(&self, name: &str) -> Option<&'r [u8]> {
        self.format?.field(name)?.bytes(self.endian, self.payload)
    }

    /// The string field `name`, up to its NUL.
    pub fn text(&self, name: &str) -> Option<&'r [u8]> {
        self.format?.field(name)?.text(self.endian, self.payload)
    }

    /// The byte order of the payload.
    pub fn endian(&self) -> Endian {
        self.endian
    }
}

/// All events of a trace.dat in time order, undecoded. Not an `Iterator`: an event
/// borrows the page it is in until the next one is requested.
pub struct RawEvents {
    formats: Arc<EventFormats>,
    decoders: Arc<Decoders>,
    endian: Endian,
    streams: Vec<RawStream>,
    /// The instants of the streams' heads; of simultaneous ones the lower stream's comes first.
    heads: BinaryHeap<Reverse<(Ns, usize)>>,
    /// The stream that gave the last event, and still holds it.
    lent: Option<usize>,
    /// CPUs of which the last events are gone, or all, and how many.
    gone: Vec<(Cpu, u64)>,
}

/// Events that are lost behind a CPU's last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostAtEnd {
    /// In which of [`TraceFile::buffers`](super::TraceFile::buffers); the first one where that is not known.
    pub buffer: usize,
    /// Whose they were.
    pub cpu: Cpu,
    /// How many.
    pub lost: LostBefore,
}

pub(super) struct RawStream {
    buffer: usize,
    records: CpuRecords,
    times: Option<CpuTimes>,
    /// The next record and its instant.
    head: Option<(Ns, CpuRecord)>,
    last: Ns,
}

impl RawStream {
    pub(super) fn new(buffer: usize, records: CpuRecords, times: Option<CpuTimes>) -> RawStream {
        let mut stream = RawStream { buffer, records, times, head: None, last: Ns(i64::MIN) };
        stream.advance();
        stream
    }

    fn advance(&mut self) {
        self.head = self.records.next().map(|record| {
            let ts = match &self.times {
                None => Ns(record.timestamp as i64),
                Some(times) => times.ns(record.timestamp).max(self.last),
            };
            self.last = ts;
            (ts, record)
        });
    }
}

impl RawEvents {
    pub(super) fn new(
        formats: Arc<EventFormats>,
        decoders: Arc<Decoders>,
        endian: Endian,
        streams: Vec<RawStream>,
        gone: Vec<(Cpu, u64)>,
    ) -> RawEvents {
        let head = |(index, stream): (usize, &RawStream)| Some(Reverse((stream.head.as_ref()?.0, index)));
        let heads = streams.iter().enumerate().filter_map(head).collect();
        RawEvents { formats, decoders, endian, streams, heads, lent: None, gone }
    }

    /// What is lost behind each CPU's last event; nothing before [`next`](Self::next) gave `None`, and each only
    /// once.
    pub fn lost_at_end(&mut self) -> Vec<LostAtEnd> {
        if self.lent.is_some() || !self.heads.is_empty() {
            return Vec::new();
        }
        let at_end = |stream: &mut RawStream| {
            let lost = stream.records.take_lost()?;
            Some(LostAtEnd { buffer: stream.buffer, cpu: stream.records.cpu, lost })
        };
        let mut lost: Vec<LostAtEnd> = self.streams.iter_mut().filter_map(at_end).collect();
        for (cpu, count) in std::mem::take(&mut self.gone) {
            if lost.iter().all(|reported| reported.cpu != cpu) {
                lost.push(LostAtEnd { buffer: 0, cpu, lost: LostBefore { count: Some(count) } });
            }
        }
        lost
    }

    /// The next event in time order.
    #[allow(clippy::should_implement_trait, reason = "the event borrows from the reader")]
    pub fn next(&mut self) -> Option<RawEvent<'_>> {
        if let Some(index) = self.lent.take()
            && let Some(stream) = self.streams.get_mut(index)
        {
            stream.advance();
            self.heads.extend(stream.head.as_ref().map(|&(ts, _)| Reverse((ts, index))));
        }
        let Reverse((_, index)) = self.heads.pop()?;
        self.lent = Some(index);
        let stream = self.streams.get_mut(index)?;
        let (ts, record) = stream.head.take()?;
        let lost = stream.records.take_lost();
        let payload = stream.records.bytes(&record);
        let id = self.decoders.id(payload).unwrap_or(0);
        Some(RawEvent {
            ts,
            cpu: stream.records.cpu,
            buffer: stream.buffer,
            context: self.decoders.context(payload),
            id,
            format: self.formats.get(id),
            payload,
            lost,
            endian: self.endian,
        })
    }
}
