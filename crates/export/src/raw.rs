//! The records of a trace.dat on their way out, through the cut.

use crate::cut::{Cut, Selected};
use crate::early_facts::EarlyFacts;
use crate::sink::Written;
use crate::tracepoint::Tracepoint;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Context, Event, EventKind, EventSource, Kind, KindSet};
use whylate_ftrace::dat::{LostAtEnd, RawEvent, TraceFile};
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::format::EventFormat;
use whylate_ftrace::page::LostBefore;
use whylate_ftrace::symbols::SymbolCache;

/// Hands the records that `cut` keeps to `write`, each with what was lost since the one before it of its CPU
/// and buffer, up to the end of the cut or the first error. Gives back what was lost behind the last of them.
pub(crate) fn each(
    file: &TraceFile,
    cut: &Cut,
    written: &mut Written,
    mut write: impl FnMut(&RawEvent<'_>) -> io::Result<()>,
) -> io::Result<Vec<LostAtEnd>> {
    let mut selected = Selected::new(cut, comms(file));
    let mut reader = Reader::new(file);
    let mut losses: BTreeMap<(usize, Cpu), LostBefore> = BTreeMap::new();
    let mut events = file.raw_events();
    let mut facts = EarlyFacts::of(cut);
    while let Some(mut raw) = events.next() {
        written.saw(raw.ts);
        let (event, kind) = reader.read(&raw, !cut.tasks.is_empty());
        let point = raw
            .format
            .map_or(Tracepoint::new("", ""), |format| Tracepoint::new(&format.system, &format.name));
        let keep = selected.keeps_as(&event, kind, &point);
        let place = (raw.buffer, raw.cpu);
        if let Some(lost) = raw.lost.filter(|_| selected.is_in_place(&event)) {
            losses.entry(place).and_modify(|before| add(before, lost)).or_insert(lost);
        }
        if keep {
            for HeldFact { buffer, id, format, payload } in facts.take() {
                let payload = reader.in_context(payload, &raw);
                let format = format.as_ref();
                let mut fact = raw.clone();
                (fact.buffer, fact.id, fact.format, fact.payload) = (buffer, id, format, &payload);
                write(&fact)?;
                written.events += 1;
            }
            written.events += 1;
            raw.lost = losses.remove(&place);
            write(&raw)?;
        } else if selected.is_past(raw.ts) {
            break;
        } else if facts.waits() && kind == Kind::Marker {
            let (event, _) = reader.read(&raw, true);
            facts.hold(&event, || HeldFact {
                buffer: raw.buffer,
                id: raw.id,
                format: raw.format.cloned(),
                payload: raw.payload.to_vec(),
            });
        }
    }
    // Where reading ended with the cut, there is none of these.
    let end = written.span.map_or(Ns::ZERO, |(_, last)| last);
    for LostAtEnd { buffer, cpu, lost } in events.lost_at_end() {
        let at = Event { ts: end, cpu, context: Context::default(), kind: EventKind::Other };
        if selected.is_in_place(&at) {
            losses.entry((buffer, cpu)).and_modify(|before| add(before, lost)).or_insert(lost);
        }
    }
    written.note(&selected);
    let lost = |((buffer, cpu), lost)| LostAtEnd { buffer, cpu, lost };
    Ok(losses.into_iter().map(lost).collect())
}

/// The record of a fact from before the cut.
struct HeldFact {
    buffer: usize,
    id: u16,
    format: Option<Arc<EventFormat>>,
    payload: Vec<u8>,
}

/// One loss that was not counted leaves the sum unknown.
fn add(before: &mut LostBefore, more: LostBefore) {
    before.count = before.count.zip(more.count).map(|(before, more)| before.saturating_add(more));
}

/// The names that a file gives beside its events.
pub(crate) fn comms(file: &TraceFile) -> Vec<(Tid, Comm)> {
    file.events(KindSet::NONE).comms()
}

/// What the cut needs to know of recorded events.
struct Reader {
    decoders: Decoders,
    names: SymbolCache,
}

impl Reader {
    fn new(file: &TraceFile) -> Reader {
        // Nothing here asks for the names of functions.
        Reader { decoders: decoders(file), names: SymbolCache::new(Default::default()) }
    }

    /// A record in the context of `at`, so that no other thread seems to have had the CPU there; as it is where
    /// that does not lie where all kernels have it.
    fn in_context(&self, mut payload: Vec<u8>, at: &RawEvent<'_>) -> Vec<u8> {
        const COMMON: std::ops::Range<usize> = 2..8;
        let before = payload.clone();
        if let (Some(own), Some(theirs)) = (payload.get_mut(COMMON), at.payload.get(COMMON)) {
            own.copy_from_slice(theirs);
        }
        if self.decoders.context(&payload) == at.context { payload } else { before }
    }

    /// The event and its kind; its own fields only where they are asked for.
    fn read(&mut self, raw: &RawEvent<'_>, fields: bool) -> (Event, Kind) {
        let kind = self.decoders.kind(raw.id).unwrap_or(Kind::Other);
        let decoded = if fields { self.decoders.decode(raw.id, raw.payload, &mut self.names) } else { None };
        let event = Event {
            ts: raw.ts,
            cpu: raw.cpu,
            context: raw.context,
            kind: decoded.unwrap_or(EventKind::Other),
        };
        (event, kind)
    }
}

/// The decoders of a file's records.
pub(crate) fn decoders(file: &TraceFile) -> Decoders {
    let release = file.info().kernel_release.as_deref();
    Decoders::of_kernel(file.formats(), file.page_layout().endian, release)
}
