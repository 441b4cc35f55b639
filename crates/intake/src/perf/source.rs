//! The events of a perf.data in time order.

use super::attr::Attr;
use super::header::Header;
use super::order::Order;
use super::record_header::kind;
use super::records::{Record, Records};
use super::sample::{HEADER, Trailer, id_of_sample, parse};
use crate::clock_jumps::ClockJumps;
use crate::error::OpenError;
use crate::seekable::ReadAt;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Context, Damage, Event, EventKind, EventSource, Kind, KindSet, TraceInfo};
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::symbols::{SymbolCache, Symbols};

/// More CPUs than any kernel supports: a number past it is damage.
const MOST_CPUS: u32 = 8192;
/// Names that are kept: `pid_max` is at most that (`PID_MAX_LIMIT`, `include/linux/threads.h`).
const MOST_NAMES: usize = 4 << 20;

pub(crate) struct PerfSource {
    header: Header,
    records: Records,
    decoders: Decoders,
    names: SymbolCache,
    wanted: KindSet,
    order: Order,
    comms: HashMap<Tid, Comm>,
    /// For each CPU, up to which gap in the records its losses have been reported.
    reported_gaps: Vec<u64>,
    jumps: ClockJumps,
    tally: Tally,
    info: TraceInfo,
    ended: bool,
}

/// What was counted on the way.
#[derive(Default)]
struct Tally {
    seen: KindSet,
    highest_cpu: Option<u32>,
    /// By the kernel, where they were missed; and by perf, in all.
    lost: u64,
    lost_in_all: u64,
    /// Samples that cannot be used, and why.
    broken: u64,
    of_unknown_events: u64,
    short: u64,
    without_format: u64,
    without_time: u64,
    jumps: u64,
}

impl PerfSource {
    pub(crate) fn open(
        source: Arc<dyn ReadAt>,
        name: &str,
        wanted: KindSet,
    ) -> Result<PerfSource, OpenError> {
        let refused = |what: String, advice| OpenError::Perf { name: name.to_owned(), what, advice };
        let path = Path::new(name);
        let mut header = Header::read(&*source, path).map_err(|bad| refused(bad.0, "copy it again whole"))?;
        let mut records = Records::new(source, header.endian, header.data.clone());
        let first = match header.pipe {
            true => describe(&mut header, &mut records, path),
            false => None,
        };
        if header.attrs.iter().all(|attr| attr.tracepoint().is_none()) {
            let what = match header.attrs.is_empty() {
                true => "has no event in it",
                false => {
                    "has no tracepoint in it: its samples show where CPUs spent time, not which thread had to wait"
                }
            };
            return Err(refused(what.into(), RECORD));
        }
        if header.formats.is_empty() {
            let (what, advice) = match (header.unfinished, header.damage.is_empty()) {
                (true, _) => (
                    "was not finished: perf was killed before it wrote the formats of the events at the file's end",
                    "end perf with Ctrl-C, or record with `perf record -o - ... > FILE`, which has them first",
                ),
                (false, false) => (
                    "is damaged: the formats of its events, which perf writes at the file's end, are gone",
                    "copy it again whole, or record with `perf record -o - ... > FILE`, which has them first",
                ),
                (false, true) => ("has no formats of its events", RECORD),
            };
            return Err(refused(what.into(), advice));
        }
        let decoders = Decoders::of_kernel(&header.formats, header.endian, header.release.as_deref());
        let symbols = Symbols::parse(std::mem::take(&mut header.kallsyms));
        let comms = header.comms.drain(..).collect();
        let mut perf = PerfSource {
            info: describe_info(&header, &decoders),
            records,
            decoders,
            names: SymbolCache::new(Arc::new(symbols)),
            wanted,
            order: Order::default(),
            comms,
            reported_gaps: Vec::new(),
            jumps: ClockJumps::default(),
            tally: Tally::default(),
            ended: false,
            header,
        };
        if let Some(first) = first {
            perf.take(&first);
        }
        Ok(perf)
    }

    /// Reads on until events are ready, or everything was read.
    #[cold]
    fn read_on(&mut self) {
        while !self.order.has_next() && !self.ended {
            match self.records.next() {
                Some(record) => self.take(&record),
                None => {
                    self.order.release_all();
                    self.ended = true;
                    self.complete();
                }
            }
            if self.order.full() {
                self.order.release_half();
            }
        }
    }

    fn take(&mut self, record: &Record) {
        let endian = self.header.endian;
        match record.kind {
            kind::SAMPLE => self.sample(record),
            kind::FINISHED_ROUND => self.order.round(),
            kind::LOST => {
                let count = endian.u64(self.records.bytes(record), HEADER + 8).unwrap_or(0);
                self.tally.lost = self.tally.lost.saturating_add(count);
                self.lost(record, count);
            }
            kind::LOST_SAMPLES => {
                let count = endian.u64(self.records.bytes(record), HEADER).unwrap_or(0);
                self.tally.lost_in_all = self.tally.lost_in_all.saturating_add(count);
            }
            kind::COMM => {
                let bytes = self.records.bytes(record);
                let trailer = self.header.attrs.first().map_or(0, Trailer::size);
                let text = bytes.get(HEADER + 8..bytes.len().saturating_sub(trailer)).unwrap_or_default();
                let comm = Comm::from_bytes(text);
                if let Some(tid) = endian.u32(bytes, HEADER + 4) {
                    self.name(Tid(tid as i32), comm);
                }
            }
            kind::FORK => {
                let bytes = self.records.bytes(record);
                let (tid, parent) = (endian.u32(bytes, HEADER + 8), endian.u32(bytes, HEADER + 12));
                // A new thread has its parent's name until it changes it.
                if let (Some(tid), Some(parent)) = (tid, parent)
                    && let Some(&comm) = self.comms.get(&Tid(parent as i32))
                {
                    self.name(Tid(tid as i32), comm);
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, tid: Tid, comm: Comm) {
        if !comm.is_empty() && (self.comms.len() < MOST_NAMES || self.comms.contains_key(&tid)) {
            self.comms.insert(tid, comm);
        }
    }

    /// The attr whose layout a sample has; `None` where no attr has its id.
    fn attr_of(&self, record: &[u8]) -> Option<&Attr> {
        let first = self.header.attrs.first()?;
        let id = id_of_sample(self.header.endian, first, record);
        match id {
            Some(id) if !self.header.ids.is_empty() => self.header.attrs.get(*self.header.ids.get(&id)?),
            _ => Some(first),
        }
    }

    #[inline]
    fn sample(&mut self, record: &Record) {
        let bytes = self.records.bytes(record);
        let Some(attr) = self.attr_of(bytes) else {
            self.tally.of_unknown_events += 1;
            return;
        };
        if attr.tracepoint().is_none() {
            return;
        }
        let Some(sample) = parse(self.header.endian, attr, bytes) else {
            self.tally.broken += 1;
            return;
        };
        let raw = bytes.get(sample.raw).unwrap_or_default();
        let (Some(id), cpu) = (self.decoders.id(raw), sample.cpu.unwrap_or(0)) else {
            self.tally.broken += 1;
            return;
        };
        let Some(time) = sample.time.and_then(|time| i64::try_from(time).ok()) else {
            self.tally.without_time += 1;
            return;
        };
        if cpu >= MOST_CPUS {
            self.tally.broken += 1;
            return;
        }
        let ts = Ns(time);
        if !self.jumps.plausible(ts) {
            self.tally.jumps += 1;
            return;
        }
        self.info.events += 1;
        self.tally.highest_cpu = self.tally.highest_cpu.max(Some(cpu));
        let kind = self.decoders.kind(id).unwrap_or_else(|| {
            self.tally.without_format += 1;
            Kind::Other
        });
        self.tally.seen.insert(kind);
        let context = self.decoders.context(raw);
        let decoded = self.wanted.contains(kind).then(|| {
            self.decoders.decode(id, raw, &mut self.names).unwrap_or_else(|| {
                self.tally.short += 1;
                EventKind::Other
            })
        });
        self.info.span = Some(match self.info.span {
            Some((first, last)) => (first.min(ts), last.max(ts)),
            None => (ts, ts),
        });
        self.tell_gap(Event { ts, cpu: Cpu(cpu), context, kind: EventKind::Other });
        if let Some(kind) = decoded {
            self.order.push(Event { ts, cpu: Cpu(cpu), context, kind });
        }
    }

    /// Where records had to be skipped since this CPU's last event, its own may have been among them.
    fn tell_gap(&mut self, event: Event) {
        if self.records.gaps == 0 {
            return;
        }
        let index = event.cpu.0 as usize;
        if self.reported_gaps.len() <= index {
            self.reported_gaps.resize(index + 1, 0);
        }
        let reported_gaps = self
            .reported_gaps
            .get_mut(index)
            .map(|reported_gaps| std::mem::replace(reported_gaps, self.records.gaps));
        if reported_gaps != Some(self.records.gaps) {
            self.push_lost(event, None);
        }
    }

    /// The kernel's word that it had no room for events on a CPU.
    fn lost(&mut self, record: &Record, count: u64) {
        let bytes = self.records.bytes(record);
        let id = self.header.endian.u64(bytes, HEADER);
        let attr = id.and_then(|id| self.header.ids.get(&id)).and_then(|&index| self.header.attrs.get(index));
        let Some(attr) = attr.or(self.header.attrs.first()) else { return };
        let trailer = Trailer::parse(self.header.endian, attr, bytes);
        let time = trailer.time.and_then(|time| i64::try_from(time).ok());
        let (Some(time), Some(cpu)) = (time, trailer.cpu.filter(|&cpu| cpu < MOST_CPUS)) else { return };
        let context = Context::default();
        let event = Event { ts: Ns(time), cpu: Cpu(cpu), context, kind: EventKind::Other };
        self.push_lost(event, Some(count));
    }

    fn push_lost(&mut self, event: Event, count: Option<u64>) {
        self.tally.seen.insert(Kind::Lost);
        if self.wanted.contains(Kind::Lost) {
            let kind = EventKind::Lost { count, since: None, kinds: KindSet::NONE };
            self.order.push(Event { kind, ..event });
        }
    }

    fn complete(&mut self) {
        let Tally { lost, lost_in_all, .. } = self.tally;
        let info = &mut self.info;
        info.lost_events = lost.max(lost_in_all);
        info.recorded = Some(info.recorded.unwrap_or(KindSet::NONE).union(self.tally.seen));
        info.cpus = info.cpus.max(self.tally.highest_cpu.map_or(0, |cpu| cpu + 1));
        if self.records.compressed() {
            info.format.push_str(" (zstd)");
        }
        info.damage.append(&mut self.records.damage);
        let mut note = |count: u64, what: &str| {
            if count > 0 {
                info.damage.push(Damage::whole(format!("{count} {what}")));
            }
        };
        note(self.records.unlisted, "more damaged places");
        note(self.order.late, "events come too late in the file to be put in order: left out");
        note(
            lost_in_all.saturating_sub(lost),
            "more events were lost, by perf's count; it does not say when",
        );
        note(self.tally.broken, "samples are shorter than they should be: skipped");
        note(self.tally.of_unknown_events, "samples are of events that the file does not describe: skipped");
        note(self.tally.short, "events are shorter than their format");
        note(self.tally.without_format, "events have no format in the file: counted only");
        note(self.tally.jumps, "samples have a time that cannot be: skipped");
        note(self.tally.without_time, "samples have no time: skipped (record with `perf record -T`)");
    }
}

/// What to do where a perf.data has no events that show latency.
const RECORD: &str = "record tracepoints, with `perf sched record` or \
     `perf record -a -e 'sched:*,irq:*,timer:*,raw_syscalls:*'`";

/// In pipe mode, reads what describes the records; gives the first that does not, if there is one.
fn describe(header: &mut Header, records: &mut Records, path: &Path) -> Option<Record> {
    while let Some(record) = records.next() {
        let endian = header.endian;
        let body = records.bytes(&record).get(HEADER..).unwrap_or_default();
        match record.kind {
            kind::HEADER_ATTR if !header.attr_record(body) => {
                records.note(record.at, "the description of an event makes no sense: skipped");
            }
            kind::HEADER_TRACING_DATA => match records.behind(&record) {
                Some(bytes) => header.tracing_data(bytes, path),
                None => records.note(record.at, "the event formats cannot be read"),
            },
            kind::HEADER_FEATURE => {
                let (feature, rest) = (endian.u64(body, 0), body.get(8..).unwrap_or_default().to_vec());
                header.feature(feature.unwrap_or(u64::MAX), rest, path);
            }
            kind::SAMPLE | kind::LOST | kind::FINISHED_ROUND | kind::COMM | kind::FORK => {
                return Some(record);
            }
            _ => {}
        }
    }
    None
}

fn describe_info(header: &Header, decoders: &Decoders) -> TraceInfo {
    let kinds = header.attrs.iter().filter_map(Attr::tracepoint).filter_map(|id| decoders.kind(id));
    let mut damage = header.damage.clone();
    let clock = header.attrs.first().and_then(Attr::clock_name);
    if header.unfinished {
        damage.push(Damage::whole("perf was killed while it recorded: what it had not yet written is gone"));
    }
    TraceInfo {
        format: if header.pipe { "perf.data, piped" } else { "perf.data" }.to_owned(),
        cpus: header.cpus.min(MOST_CPUS),
        clock: clock.map(str::to_owned),
        kernel_release: header.release.clone(),
        machine: header.machine.clone(),
        host: header.host.clone(),
        data_bytes: Some(header.data.end.saturating_sub(header.data.start)),
        recorded: Some(kinds.collect()),
        damage,
        ..TraceInfo::default()
    }
}

impl EventSource for PerfSource {
    #[inline]
    fn next_event(&mut self) -> Option<&Event> {
        if !self.order.has_next() {
            self.read_on();
        }
        self.order.next()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.comms.iter().map(|(&tid, &comm)| (tid, comm)).collect()
    }
}
