//! Events on their way out: through the cut, and where wanted through the ledger at the same time.

use crate::cut::{Choice, Cut, Selected};
use crate::early_facts::EarlyFacts;
use std::io;
use whylate_base::{Comm, Ns, Tid};
use whylate_events::{Event, EventKind, EventSource, TraceInfo};
use whylate_ledger::{Explanation, Options, explain};

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Events of the trace, kept or not.
    pub read: u64,
    /// The times of the first and the last of them.
    pub span: Option<(Ns, Ns)>,
    /// Events that are in the output.
    pub events: u64,
    /// Events that were to be kept and that the format has no form for.
    pub no_form: u64,
    /// Events in the output of whose type nothing is known: they have only time, CPU and in whose context.
    pub bare: u64,
    /// Activations that are in the output.
    pub activations: u64,
    /// Events of another machine that the output shows.
    pub of_other: u64,
    /// Sampled call stacks that are in the output.
    pub samples: u64,
    /// Choices of events that the trace has none of.
    pub unmet: Vec<String>,
}

impl Written {
    /// Counts an event that was read.
    #[inline]
    pub(crate) fn saw(&mut self, ts: Ns) {
        self.read += 1;
        self.span = Some(self.span.map_or((ts, ts), |(first, last)| (first.min(ts), last.max(ts))));
    }

    /// Adds what the cut found.
    pub(crate) fn note(&mut self, selected: &Selected<'_>) {
        self.unmet = selected.unmet().map(Choice::to_string).collect();
    }
}

/// Hands the events that `cut` keeps to `write`, up to the end of the cut or the first error.
pub(crate) fn each<'c>(
    source: &mut (impl EventSource + ?Sized),
    cut: &'c Cut,
    written: &mut Written,
    mut write: impl FnMut(&Event, &Selected<'c>) -> io::Result<()>,
) -> io::Result<Selected<'c>> {
    let mut selected = Selected::new(cut, source.comms());
    let mut facts = EarlyFacts::of(cut);
    while let Some(event) = source.next_event() {
        written.saw(event.ts);
        if selected.keeps(event) {
            for fact in facts.take() {
                write(&Event { kind: fact, ..*event }, &selected)?;
            }
            written.bare += u64::from(matches!(event.kind, EventKind::Other));
            write(event, &selected)?;
        } else if selected.is_past(event.ts) {
            break;
        } else if facts.waits() {
            facts.hold(event, || event.kind);
        }
    }
    written.note(&selected);
    Ok(selected)
}

/// The same for a whole trace, which is explained on the way.
pub(crate) fn explained<'c>(
    source: &mut dyn EventSource,
    cut: &'c Cut,
    options: &Options,
    written: &mut Written,
    write: impl FnMut(&Event, &Selected<'c>) -> io::Result<()>,
) -> io::Result<(Explanation, Selected<'c>)> {
    let mut selected = Selected::new(cut, source.comms());
    let mut failed = None;
    let tee = Tee { source, selected: &mut selected, written, write, failed: &mut failed };
    let explanation = explain(tee, options);
    written.note(&selected);
    failed.map_or(Ok((explanation, selected)), Err)
}

/// A source whose events are written while another thread reads them.
struct Tee<'s, 'c, F> {
    source: &'s mut dyn EventSource,
    selected: &'s mut Selected<'c>,
    written: &'s mut Written,
    write: F,
    failed: &'s mut Option<io::Error>,
}

impl<'c, F: FnMut(&Event, &Selected<'c>) -> io::Result<()>> EventSource for Tee<'_, 'c, F> {
    fn next_event(&mut self) -> Option<&Event> {
        // No thread waits for the rest of what cannot be written.
        if self.failed.is_some() {
            return None;
        }
        let event = self.source.next_event()?;
        self.written.saw(event.ts);
        if self.selected.keeps(event) {
            *self.failed = (self.write)(event, self.selected).err();
        }
        Some(event)
    }

    fn info(&self) -> &TraceInfo {
        self.source.info()
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.source.comms()
    }
}
