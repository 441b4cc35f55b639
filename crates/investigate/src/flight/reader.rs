//! Reads captures: events straight from their pages, and a trace.dat where one is kept.

use super::facts;
use super::fresh::FreshPages;
use super::image::CaptureFile;
use super::window::{Capture, CpuCapture, Page};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use whylate_base::{Ns, Tid};
use whylate_events::{Context, Event, EventKind, EventSource, Fact, Marker, Stacks, TraceInfo};
use whylate_ftrace::dat::write::{Description, EventFormat as EventText};
use whylate_ftrace::dat::{CpuData, PageFormats, RawBuffer, TraceFile};
use whylate_intake::WithInfo;
use whylate_ledger::{Cause, Explanation, Judge, Options, Select};

/// Why a capture could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A page has another size than the kernel describes.
    #[error("a page has {found} bytes instead of {expected}")]
    PageSize {
        /// What the page has.
        found: usize,
        /// What the kernel describes.
        expected: usize,
    },
    /// The pages could not be written as a trace.dat.
    #[error("the pages do not make a trace")]
    Write(#[from] io::Error),
}

/// All that is needed to read the captures of one recorder.
#[derive(Clone, Debug)]
pub struct Reader {
    description: Description,
    formats: Arc<PageFormats>,
    clock: String,
    facts: Vec<Fact>,
    stacks: Option<Arc<Stacks>>,
    left_out: Vec<EventText>,
}

/// More activations than a measurement has late ones; the caller picks those it knows of.
const WORST: usize = 1_000;

impl Reader {
    /// The names of threads that were known when it began.
    pub fn thread_names(&self) -> impl Iterator<Item = (Tid, &str)> {
        let lines = self.description.thread_names.lines();
        lines.filter_map(move |line| {
            let (tid, name) = line.split_once(' ')?;
            Some((Tid(tid.parse().ok()?), name.trim()))
        })
    }

    /// The facts of the machine that were recorded when it began.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    pub(super) fn new(description: Description, clock: String, facts: Vec<Fact>) -> Self {
        let formats = Arc::new(PageFormats::parse(&description));
        Reader { description, formats, clock, facts, stacks: None, left_out: Vec::new() }
    }

    /// The same with the call stacks that were sampled meanwhile.
    #[must_use]
    pub fn with_stacks(self, stacks: Option<Arc<Stacks>>) -> Reader {
        Reader { stacks, ..self }
    }

    /// The call stacks that were sampled meanwhile.
    pub fn stacks(&self) -> Option<&Arc<Stacks>> {
        self.stacks.as_ref()
    }

    /// The same for a stream that is read in many small parts: its files name threads, its events do so themselves.
    pub(super) fn of_stream(description: Description, clock: String, facts: Vec<Fact>) -> Self {
        let bare = Description { thread_names: String::new(), printk_formats: None, ..description.clone() };
        let formats = Arc::new(PageFormats::parse(&bare));
        Reader { description, formats, clock, facts, stacks: None, left_out: Vec::new() }
    }

    /// Explains what the capture shows of these threads: their worst activations in it.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn explain(&self, capture: &Capture, threads: &[Tid]) -> Result<Explanation, ReadError> {
        let events = self.open(capture)?.events(whylate_ledger::WANTED);
        let events = WithInfo::new(events, |info: &mut TraceInfo| info.stacks = self.stacks.clone());
        Ok(explain(WithFacts::new(events, &self.facts, capture.begins()), threads))
    }

    /// The capture as an opened trace, without the facts.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn open(&self, capture: &Capture) -> Result<TraceFile, ReadError> {
        Ok(self.open_joined(self.join(capture, |_| FirstPage::Whole)?))
    }

    /// The next part of a stream: losses before its first pages are in it.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn open_next(&self, fresh: &FreshPages) -> Result<TraceFile, ReadError> {
        let first = |at: usize| match fresh.after_hole.get(at) {
            Some(true) => FirstPage::AfterHole,
            _ => FirstPage::Next,
        };
        Ok(self.open_joined(self.join(&fresh.capture, first)?))
    }

    fn open_joined(&self, Joined { bytes, cpus }: Joined) -> TraceFile {
        let buffer = RawBuffer { name: String::new(), clock: self.clock.clone(), cpus };
        self.formats.open(Arc::new(bytes), vec![buffer])
    }

    /// Leaves the formats of these events out of files from here on, and puts all others back: what was not recorded
    /// is not to be taken for what did not happen.
    pub fn leave_out(&mut self, events: &[String]) {
        let formats = &mut self.description.event_formats;
        formats.append(&mut self.left_out);
        let is_left_out = |format: &EventText| events.contains(&name_of(format));
        let (out, kept) = std::mem::take(formats).into_iter().partition(is_left_out);
        (self.left_out, *formats) = (out, kept);
    }

    /// The capture as a trace.dat that stands alone: the facts are in a buffer of their own.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn image<'a>(&'a self, capture: &'a Capture) -> Result<CaptureFile<'a>, ReadError> {
        let description = match &self.stacks {
            // With the kernel's symbols it has megabytes: a watch keeps many windows.
            None => Cow::Borrowed(&self.description),
            Some(stacks) => {
                let stacks = Some(Arc::new(part_of(stacks, capture)));
                Cow::Owned(Description { stacks, ..self.description.clone() })
            }
        };
        let expected = self.description.page_size;
        let pages = |part: &'a CpuCapture| Ok((part.cpu, marked(part.pages(), expected, &FirstPage::Whole)?));
        Ok(CaptureFile {
            description,
            clock: &self.clock,
            cpus: capture.cpus.iter().map(pages).collect::<Result<_, ReadError>>()?,
            marks: facts::pages(&self.facts, &self.description, capture.begins())?,
        })
    }

    /// The same in memory.
    ///
    /// # Errors
    /// [`ReadError`] when the pages are not what the kernel described.
    pub fn file(&self, capture: &Capture) -> Result<Vec<u8>, ReadError> {
        Ok(self.image(capture)?.into_bytes()?)
    }

    /// Copies the pages of a capture one after the other, with a loss wherever pages are missing between two windows.
    fn join(&self, capture: &Capture, first: impl Fn(usize) -> FirstPage) -> Result<Joined, ReadError> {
        let expected = self.description.page_size;
        let pages: usize = capture.cpus.iter().map(|part| part.pages().len()).sum();
        let mut bytes = Vec::with_capacity(pages * expected);
        let mut cpus = Vec::with_capacity(capture.cpus.len());
        for (nth, part) in capture.cpus.iter().enumerate() {
            let offset = bytes.len();
            for page in marked(part.pages(), expected, &first(nth))? {
                bytes.extend_from_slice(&page);
            }
            let size = (bytes.len() - offset) as u64;
            cpus.push(CpuData { cpu: part.cpu, offset: offset as u64, size });
        }
        Ok(Joined { bytes, cpus })
    }
}

/// The pages of one CPU, with a loss wherever pages are missing between two windows: only these are copied.
fn marked<'a>(
    pages: &'a [Arc<Page>],
    expected: usize,
    first: &FirstPage,
) -> Result<Vec<Cow<'a, [u8]>>, ReadError> {
    let mut earlier: Option<&Page> = None;
    let mut marked = Vec::with_capacity(pages.len());
    for page in pages {
        let found = page.bytes().len();
        if found != expected {
            return Err(ReadError::PageSize { found, expected });
        }
        let lost = match (earlier.replace(page), first) {
            (None, FirstPage::Whole) => Some(false),
            (None, FirstPage::AfterHole) => Some(true),
            (None, FirstPage::Next) => None,
            (Some(earlier), _) => (!page.follows(earlier)).then_some(true),
        };
        marked.push(match lost {
            None => Cow::Borrowed(page.bytes()),
            Some(lost) => {
                let mut copy = page.bytes().to_vec();
                set_lost(&mut copy, lost);
                Cow::Owned(copy)
            }
        });
    }
    Ok(marked)
}

/// What the first page of a CPU shows of losses before it.
enum FirstPage {
    /// Nothing: what was before it does not matter.
    Whole,
    /// What the kernel notes in it.
    Next,
    /// Pages before it are gone.
    AfterHole,
}

/// `group:event`, as the first line of a format names it.
fn name_of(format: &EventText) -> String {
    let name = format.text.lines().next().and_then(|line| line.strip_prefix("name: ")).unwrap_or_default();
    format!("{}:{name}", format.group)
}

/// The pages of a capture in one piece, and where those of each CPU are.
struct Joined {
    bytes: Vec<u8>,
    cpus: Vec<CpuData>,
}

/// The call stacks of a capture.
fn part_of(stacks: &Stacks, capture: &Capture) -> Stacks {
    let mut part = stacks.clone();
    part.retain(|time| (capture.begins()..=capture.to).contains(&time));
    part
}

/// Explains the worst activations of these threads.
fn explain(source: impl EventSource, threads: &[Tid]) -> Explanation {
    let options = Options {
        tasks: threads.iter().copied().map(Select::Tid).collect(),
        deadline: None,
        worst: WORST,
        judge: Judge::Latency,
        ..Options::default()
    };
    let mut explanation = whylate_ledger::explain(source, &options);
    if explanation.trace.lost_events == 0 {
        // The kernel lost nothing: the gaps are those between the windows.
        explanation.findings.retain(|finding| finding.code != Cause::TraceLoss.code());
    }
    explanation
}

/// Sets or clears the flags of a page before which events were lost. Of a
/// CPU's first page they would always be set, and show nothing of the capture; after a hole
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
    use super::super::window::Window;
    use super::*;
    use whylate_base::{Comm, Cpu, Priority};
    use whylate_events::{KindSet, Switch, TaskState, Wake};
    use whylate_ftrace::encode::{Encoder, HEADER_EVENT, PageWriter, header_page};

    const PAGE: usize = 4096;
    const THREAD: Tid = Tid(100);
    const HOG: Tid = Tid(7);

    fn event(at: i64, cpu: u32, current: Tid, kind: EventKind) -> Event {
        Event { ts: Ns(at), cpu: Cpu(cpu), context: Context { tid: current, ..Context::default() }, kind }
    }

    fn switch(at: i64, cpu: u32, prev: Tid, next: Tid) -> Event {
        let named = |tid: Tid| Comm::from(if tid == THREAD { "probe" } else { "hog" });
        let prio = |tid: Tid| match tid {
            THREAD => Priority::realtime(80),
            HOG => Priority::realtime(94),
            _ => Priority::DEFAULT,
        };
        let switch = Switch {
            prev_comm: named(prev),
            prev_tid: prev,
            prev_prio: prio(prev),
            prev_state: if prev == Tid::IDLE { TaskState::Runnable } else { TaskState::Interruptible },
            next_comm: named(next),
            next_tid: next,
            next_prio: prio(next),
        };
        event(at, cpu, prev, EventKind::Switch(switch))
    }

    /// The probe wakes each millisecond on CPU 0; each tenth time the hog runs there before it.
    fn events() -> Vec<Event> {
        let mut events = vec![switch(500_000, 0, THREAD, Tid::IDLE)];
        for (nth, due) in (1..).zip((1..=200).map(|ms| ms * 1_000_000)) {
            let late = nth % 10 == 0;
            let wake = Wake {
                comm: Comm::from("probe"),
                tid: THREAD,
                prio: Priority::realtime(80),
                target_cpu: Cpu(0),
            };
            let current = if late { HOG } else { Tid::IDLE };
            if late {
                events.push(switch(due - 10_000, 0, Tid::IDLE, HOG));
            }
            events.push(event(due, 0, current, EventKind::Waking(wake)));
            events.push(event(due + 1_000, 0, current, EventKind::Wakeup { wake, new: false }));
            let running = if late { due + 150_000 } else { due + 5_000 };
            events.push(switch(running, 0, current, THREAD));
            events.push(switch(running + 20_000, 0, THREAD, Tid::IDLE));
            events.push(event(running + 30_000, 1, Tid::IDLE, EventKind::CpuIdle { state: Some(1) }));
        }
        events
    }

    /// A reader of the events' formats, and their pages by CPU.
    fn recorded() -> (Reader, Vec<Vec<u8>>) {
        let mut encoder = Encoder::new(Some("6.12.0"), true);
        let mut pages: Vec<_> = (0..2).map(|_| PageWriter::new(Vec::new(), PAGE)).collect();
        let mut record = Vec::new();
        for event in events() {
            assert!(encoder.record(&event, &mut record));
            pages[event.cpu.0 as usize].push(event.ts.0 as u64, &record).expect("written");
        }
        let (ftrace_formats, event_formats) = encoder.formats(KindSet::ALL);
        let description = Description {
            page_size: PAGE,
            header_page: header_page(PAGE),
            header_event: HEADER_EVENT.to_owned(),
            ftrace_formats,
            event_formats,
            thread_names: format!("{THREAD} probe\n{HOG} hog\n"),
            clock: "local [mono]".to_owned(),
            uname: "Linux host 6.12.0 x86_64".to_owned(),
            cpus: 2,
            ..Description::default()
        };
        let facts = vec![Fact::RtRuntimeUs(-1), Fact::PreemptRt(true)];
        let pages = pages.into_iter().map(|pages| pages.finish().expect("written").0).collect();
        (Reader::new(description, "mono".to_owned(), facts), pages)
    }

    /// The capture of a span, out of pages that a recorder has read.
    fn captured(pages: &[Vec<u8>], from: i64, to: i64) -> Capture {
        let cover = |(cpu, pages): (u32, &Vec<u8>)| {
            let mut window = Window::new(1 << 20);
            pages.chunks(PAGE).for_each(|page| window.push_bytes(page));
            window.cover(Cpu(cpu), Ns(from), Ns(to))
        };
        Capture { from: Ns(from), to: Ns(to), cpus: (0..).zip(pages).map(cover).collect() }
    }

    #[test]
    fn pages_are_explained_as_the_file_made_of_them() {
        let (reader, pages) = recorded();
        let one = captured(&pages, 9_000_000, 12_000_000);
        let mut with_a_hole = one.clone();
        with_a_hole.extend(&captured(&pages, 150_000_000, 161_000_000));
        for (capture, late) in [(one, 1), (with_a_hole, 2), (captured(&pages, 0, i64::MAX), 20)] {
            let direct = reader.explain(&capture, &[THREAD]).expect("an explanation");
            let file = TraceFile::from_bytes(reader.file(&capture).expect("a file")).expect("a trace.dat");
            let through_file = explain(file.events(whylate_ledger::WANTED), &[THREAD]);
            let shown = |explanation: &Explanation| {
                (format!("{:#?}", explanation.activations), format!("{:#?}", explanation.findings))
            };
            assert_eq!(shown(&direct), shown(&through_file));
            let by_hog = |activation: &&whylate_ledger::Activation| {
                activation.verdict.cause == Cause::HigherPriorityTask
            };
            assert!(direct.activations.iter().filter(by_hog).count() >= late, "{:#?}", direct.activations);
        }
    }

    #[test]
    fn a_hole_between_two_windows_is_a_loss() {
        let (reader, pages) = recorded();
        let mut capture = captured(&pages, 9_000_000, 12_000_000);
        capture.extend(&captured(&pages, 150_000_000, 161_000_000));
        let events: Vec<Event> = reader.open(&capture).expect("a trace").events(KindSet::ALL).collect();
        let lost = events.iter().filter(|event| matches!(event.kind, EventKind::Lost { .. })).count();
        assert_eq!(lost, 1, "one of CPU 0; CPU 1 has a single page");
    }

    #[test]
    fn a_page_of_another_size_is_refused() {
        let (reader, pages) = recorded();
        let mut window = Window::new(1 << 20);
        window.push_bytes(&pages[0][..100]);
        let cpus = vec![window.cover(Cpu(0), Ns::ZERO, Ns::MAX)];
        let capture = Capture { from: Ns::ZERO, to: Ns::MAX, cpus };
        let error = reader.explain(&capture, &[THREAD]).expect_err("refused");
        assert_eq!(error.to_string(), "a page has 100 bytes instead of 4096");
    }

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
