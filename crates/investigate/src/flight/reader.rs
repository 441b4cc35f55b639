//! Reads captures: their pages become a trace.dat in memory, and that the ledger's events.

use super::facts;
use super::window::Capture;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Cursor;
use whylate_base::{Ns, Tid};
use whylate_events::{Context, Event, EventKind, EventSource, Fact, Marker, TraceInfo};
use whylate_ftrace::dat::write::{Buffer, CpuPages, Description, Pages, write};
use whylate_ftrace::dat::{DatError, TraceFile};
use whylate_ledger::{Cause, Explanation, Judge, Options, Select};

/// Why a capture could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its pages do not fit the kernel's description of them.
    #[error("the pages do not make a trace")]
    Write(#[from] std::io::Error),
    /// The trace was not understood.
    #[error(transparent)]
    Dat(#[from] DatError),
}

/// All that is needed to read the captures of one recorder.
#[derive(Clone, Debug)]
pub struct Reader {
    description: Description,
    clock: String,
    facts: Vec<Fact>,
}

/// More activations than a measurement has late ones; the caller picks those it knows of.
const WORST: usize = 1_000;

impl Reader {
    pub(super) fn new(description: Description, clock: String, facts: Vec<Fact>) -> Self {
        Reader { description, clock, facts }
    }

    /// Explains what the capture shows of these threads: their worst activations in it.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn explain(&self, capture: &Capture, threads: &[Tid]) -> Result<Explanation, ReadError> {
        let file = self.open(capture)?;
        let source = WithFacts::new(file.events(whylate_ledger::WANTED), &self.facts, capture.begins());
        let options = Options {
            tasks: threads.iter().copied().map(Select::Tid).collect(),
            deadline: None,
            worst: WORST,
            judge: Judge::Latency,
        };
        let mut explanation = whylate_ledger::explain(source, &options);
        if explanation.trace.lost_events == 0 {
            // The kernel lost nothing: the gaps are those between the windows.
            explanation.findings.retain(|finding| finding.code != Cause::TraceLoss.code());
        }
        Ok(explanation)
    }

    /// The capture as an opened trace, without the facts.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn open(&self, capture: &Capture) -> Result<TraceFile, ReadError> {
        Ok(TraceFile::from_bytes(self.image(capture, &[])?)?)
    }

    /// The capture as a trace.dat that stands alone: the facts are in a buffer of their own.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn file(&self, capture: &Capture) -> Result<Vec<u8>, ReadError> {
        let marks = facts::pages(&self.facts, &self.description, capture.begins())?;
        self.image(capture, &marks)
    }

    /// The capture as a trace.dat, with pages of marks beside it.
    fn image(&self, capture: &Capture, marks: &[u8]) -> Result<Vec<u8>, ReadError> {
        let parts: Vec<(_, Vec<Cow<'_, [u8]>>)> = capture
            .cpus
            .iter()
            .map(|part| {
                let mut pages: Vec<_> = part.pages().iter().map(|page| Cow::Borrowed(page.bytes())).collect();
                if let Some(first) = pages.first_mut() {
                    set_lost(first.to_mut(), false);
                }
                for (page, pair) in pages.iter_mut().skip(1).zip(part.pages().windows(2)) {
                    if let [earlier, later] = pair
                        && !later.follows(earlier)
                    {
                        set_lost(page.to_mut(), true);
                    }
                }
                (part.cpu, pages)
            })
            .collect();
        let cpus = parts
            .iter()
            .map(|(cpu, pages)| CpuPages {
                cpu: *cpu,
                pages: Pages::Memory(pages.iter().map(AsRef::as_ref).collect()),
                stats: "",
            })
            .collect();
        let mut image = Cursor::new(Vec::new());
        let mut buffers = vec![Buffer { name: "", clock: &self.clock, cpus }];
        if let Some(first) = capture.cpus.first().filter(|_| !marks.is_empty()) {
            let pages = Pages::Memory(marks.chunks(self.description.page_size.max(1)).collect());
            let cpus = vec![CpuPages { cpu: first.cpu, pages, stats: "" }];
            buffers.push(Buffer { name: "facts", clock: &self.clock, cpus });
        }
        write(&mut image, &self.description, &buffers)?;
        Ok(image.into_inner())
    }
}

/// Sets or takes away the flags by which a page says that events before it were lost. Of a
/// CPU's first page they would always be set, and say nothing of the capture; after a hole
/// between two windows they are what keeps the ledger from bridging it.
fn set_lost(page: &mut [u8], lost: bool) {
    // Bits 31 and 30 of `commit`, a long after the 8 bytes of the time (`RB_MISSED_EVENTS`,
    // and `RB_MISSED_STORED` when a count stands after the data: kernel/trace/ring_buffer.c).
    const MISSED: u64 = 1 << 31;
    const STORED: u64 = 1 << 30;
    const LONG: usize = size_of::<usize>();
    let Some(bytes) = page.get_mut(8..8 + LONG) else { return };
    let Ok(word) = <[u8; LONG]>::try_from(&*bytes) else { return };
    let word = usize::from_ne_bytes(word) as u64 & !(MISSED | STORED) | if lost { MISSED } else { 0 };
    bytes.copy_from_slice(&(word as usize).to_ne_bytes());
}

/// A source with facts in front of its events, as a recording has them that was not cut.
struct WithFacts<S> {
    /// The one being handed out stays in front until the next call.
    facts: VecDeque<Event>,
    begun: bool,
    source: S,
}

impl<S: EventSource> WithFacts<S> {
    fn new(source: S, facts: &[Fact], at: Ns) -> Self {
        let marker = |fact: &Fact| Event {
            ts: at,
            cpu: Default::default(),
            context: Context::default(),
            kind: EventKind::Marker(Marker::from(fact.to_string().as_str())),
        };
        WithFacts { facts: facts.iter().map(marker).collect(), begun: false, source }
    }
}

impl<S: EventSource> EventSource for WithFacts<S> {
    fn next_event(&mut self) -> Option<&Event> {
        if std::mem::replace(&mut self.begun, true) {
            self.facts.pop_front();
        }
        match self.facts.is_empty() {
            true => self.source.next_event(),
            false => self.facts.front(),
        }
    }

    fn info(&self) -> &TraceInfo {
        self.source.info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_flags_of_a_page_are_changed() {
        let mut page = [0xaa; 64];
        page[8..16].copy_from_slice(&(0x1234u64 | 1 << 30 | 1 << 31).to_ne_bytes());
        let others = |page: &[u8; 64]| [&page[..8], &page[16..]].concat();
        let before = others(&page);
        set_lost(&mut page, false);
        assert_eq!(page[8..16], 0x1234u64.to_ne_bytes());
        set_lost(&mut page, true);
        assert_eq!(page[8..16], (0x1234u64 | 1 << 31).to_ne_bytes());
        assert_eq!(others(&page), before);
        set_lost(&mut page[..9], true);
    }
}
