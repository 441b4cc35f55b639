//! The records of a trace.dat on their way out, through the cut.

use crate::cut::{Cut, Selected};
use crate::sink::Written;
use crate::tracepoint::Tracepoint;
use std::collections::HashMap;
use std::io;
use whylate_base::{Comm, Cpu, Tid};
use whylate_events::{Event, EventKind, EventSource, Kind, KindSet};
use whylate_ftrace::dat::{RawEvent, TraceFile};
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::page::LostBefore;
use whylate_ftrace::symbols::SymbolCache;

/// Hands the records that `cut` keeps to `write`, each with what was lost since the one before it of its CPU
/// and buffer, up to the end of the cut or the first error.
pub(crate) fn each(
    file: &TraceFile,
    cut: &Cut,
    written: &mut Written,
    mut write: impl FnMut(&RawEvent<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut selected = Selected::new(cut, comms(file));
    let mut reader = Reader::new(file);
    let mut losses: HashMap<(usize, Cpu), LostBefore> = HashMap::new();
    let mut events = file.raw_events();
    while let Some(mut raw) = events.next() {
        written.saw(raw.ts);
        let (event, kind) = reader.read(&raw, !cut.tasks.is_empty());
        let point = raw
            .format
            .map_or(Tracepoint::new("", ""), |format| Tracepoint::new(&format.system, &format.name));
        let keep = selected.keeps_as(&event, kind, &point);
        let place = (raw.buffer, raw.cpu);
        if let Some(lost) = raw.lost.filter(|_| selected.is_in_place(&event)) {
            let sum = |before: &LostBefore| LostBefore {
                count: before.count.zip(lost.count).map(|(before, more)| before.saturating_add(more)),
            };
            let lost = losses.get(&place).map_or(lost, sum);
            losses.insert(place, lost);
        }
        if keep {
            written.events += 1;
            raw.lost = losses.remove(&place);
            write(&raw)?;
        } else if selected.is_past(raw.ts) {
            break;
        }
    }
    written.note(&selected);
    Ok(())
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
