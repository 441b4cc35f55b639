//! Reads a capture: its pages become a trace.dat in memory, and that the ledger's events.

use super::window::Capture;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Cursor;
use whylate_base::{Ns, Tid};
use whylate_events::{Context, Event, EventKind, EventSource, Fact, Marker, TraceInfo};
use whylate_ftrace::dat::write::{Buffer, CpuPages, Description, Pages, write};
use whylate_ftrace::dat::{DatError, TraceFile};
use whylate_ledger::{Explanation, Options, Select};

/// Why a capture could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its pages do not fit the kernel's description of them.
    #[error("the pages do not make a trace: {0}")]
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

/// More activations than any window of a measuring thread has: all are kept, and the
/// caller picks the one it saw.
const ALL: usize = 100_000;

impl Reader {
    pub(super) fn new(description: Description, clock: String, facts: Vec<Fact>) -> Self {
        Reader { description, clock, facts }
    }

    /// Explains what the capture shows of these threads: all their activations in it.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn explain(&self, capture: &Capture, threads: &[Tid]) -> Result<Explanation, ReadError> {
        let file = self.open(capture)?;
        let source = WithFacts::new(file.events(whylate_ledger::WANTED), &self.facts, capture.begins());
        let options =
            Options { tasks: threads.iter().copied().map(Select::Tid).collect(), deadline: None, worst: ALL };
        Ok(whylate_ledger::explain(source, &options))
    }

    /// The capture as an opened trace, without the facts.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn open(&self, capture: &Capture) -> Result<TraceFile, ReadError> {
        Ok(TraceFile::from_bytes(self.image(capture)?)?)
    }

    /// The capture as a trace.dat.
    fn image(&self, capture: &Capture) -> Result<Vec<u8>, ReadError> {
        let parts: Vec<(_, Vec<Cow<'_, [u8]>>)> = capture
            .cpus
            .iter()
            .map(|part| {
                let pages = part.pages().iter().map(|page| Cow::Borrowed(page.bytes()));
                let mut pages: Vec<_> = pages.collect();
                if let Some(first) = pages.first_mut() {
                    self.forget_losses(first.to_mut());
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
        write(&mut image, &self.description, &[Buffer { name: "", clock: &self.clock, cpus }])?;
        Ok(image.into_inner())
    }

    /// Takes away the flags by which a page says that events before it were lost. Of a
    /// capture's first page that is always so, and says nothing of the capture.
    fn forget_losses(&self, page: &mut [u8]) {
        // The flags are bits 30 and 31 of `commit`, a long after the 8 bytes of the time
        // (`RB_MISSED_EVENTS`, `RB_MISSED_STORED`, kernel/trace/ring_buffer.c).
        const FLAGS: u64 = 1 << 31 | 1 << 30;
        let long = size_of::<usize>();
        if let Some(commit) = page.get_mut(8..8 + long) {
            let mut word = [0; 8];
            // A long's low half comes first or last by the machine's byte order; this process has the same.
            let at = if cfg!(target_endian = "big") { 8 - long } else { 0 };
            word[at..at + long].copy_from_slice(commit);
            let cleared = (u64::from_ne_bytes(word) & !FLAGS).to_ne_bytes();
            commit.copy_from_slice(&cleared[at..at + long]);
        }
    }
}

/// A source with facts in front of its events, as a recording has them that was not cut.
struct WithFacts<S> {
    facts: VecDeque<Event>,
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
        WithFacts { facts: facts.iter().map(marker).collect(), source }
    }
}

impl<S: EventSource> EventSource for WithFacts<S> {
    fn next_event(&mut self) -> Option<Event> {
        self.facts.pop_front().or_else(|| self.source.next_event())
    }

    fn info(&self) -> &TraceInfo {
        self.source.info()
    }
}
