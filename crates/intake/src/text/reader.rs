//! From lines to events: what each line is, and what it means for the lines around it.

mod begun_string;
mod beside;
mod described;
mod graph_lines;
mod line_stamps;
mod raw_line;
mod rows;
mod shape;

use super::body;
use super::collected::Collected;
use super::commented::Commented;
use super::counts::Counts;
use super::current::CurrentThreads;
use super::decimals::Decimals;
use super::delay_table::DelayTable;
use super::event_head::Frames;
use super::fragment;
use super::further::{FurtherRecording, RowForm};
use super::graph;
use super::header::{self, Header};
use super::held::{Held, HeldLine, MayHold, Shape};
use super::hwlatdetect::Hwlatdetect;
use super::kernel_log;
use super::line;
use super::lttng;
use super::names::Names;
use super::ros2::RosCallbacks;
use super::rtla::Analyses;
use super::squeezed;
use super::tables::{Other, OtherLine};
use super::tally::Tally;
use super::woken_by_name::WokenByName;
use begun_string::BegunString;
use line_stamps::LineStamps;
use whylate_base::Ns;
use whylate_events::{Damage, KindSet, LatencyTrace};

/// So many lines without their header are an excerpt.
const MOST_OF_A_FRAGMENT: u64 = 4096;

/// Takes lines in and gives events.
pub(crate) struct Reader {
    pub(crate) collected: Collected,
    pub(crate) names: Names,
    pub(crate) current: CurrentThreads,
    decimals: Decimals,
    pub(super) counts: Counts,
    /// Lines read so far.
    pub(crate) lines: u64,
    /// The number of the line that is being taken in.
    number: u64,
    stamps: LineStamps,
    held: Held,
    /// False once a line was no UTF-8.
    pub(crate) is_utf8: bool,
    header: Header,
    analyses: Analyses,
    hwlatdetect: Hwlatdetect,
    clock: graph::Clock,
    bare_calls: graph::BareCalls,
    callbacks: RosCallbacks,
    /// The last event's text may go on in the next line.
    free_text: bool,
    /// The lines that follow may be frames.
    frames: Option<Frames>,
    delay_table: DelayTable,
    cut_lines: Tally,
    prose: Tally,
    strange_lines: Tally,
    strange_fields: Tally,
    woken_by_name: WokenByName,
    further: FurtherRecording,
    /// What the text is, if it has no event.
    pub(crate) other: Option<Other>,
    /// How many jiffies a second has, by a line of the kernel's log.
    hz: Option<u64>,
    commented: Commented,
    /// A string of a program's source, of which the next line may hold the rest.
    begun_string: BegunString,
    /// Below a header, the first line that begins as a row does, in no known form.
    pub(crate) strange_row: Option<u64>,
    /// Some line of it is many that were put into one.
    pub(crate) has_lost_breaks: bool,
    failed: Option<Damage>,
    /// Rows that were left out.
    above_header: Option<Damage>,
    /// What the last event shows of a critical section that ends with it.
    ended: Option<LatencyTrace>,
}

impl Reader {
    pub(crate) fn new(wanted: KindSet) -> Self {
        Reader {
            collected: Collected::new(wanted),
            names: Names::default(),
            current: CurrentThreads::default(),
            decimals: Decimals::default(),
            counts: Counts::default(),
            lines: 0,
            number: 0,
            stamps: LineStamps::default(),
            held: Held::default(),
            is_utf8: true,
            header: Header::default(),
            analyses: Analyses::default(),
            hwlatdetect: Hwlatdetect::default(),
            clock: graph::Clock::default(),
            bare_calls: graph::BareCalls::default(),
            callbacks: RosCallbacks::default(),
            free_text: false,
            frames: None,
            delay_table: DelayTable::default(),
            cut_lines: Tally::default(),
            prose: Tally::default(),
            strange_lines: Tally::default(),
            strange_fields: Tally::default(),
            woken_by_name: WokenByName::default(),
            further: FurtherRecording::default(),
            other: None,
            hz: None,
            commented: Commented::default(),
            begun_string: BegunString::default(),
            strange_row: None,
            has_lost_breaks: false,
            failed: None,
            above_header: None,
            ended: None,
        }
    }

    /// Takes in a line that is bare of what others put around it.
    fn printed_line(&mut self, number: u64, text: &str, columns: usize, is_cut: bool) {
        if let Some(rows) = squeezed::rows(text) {
            return rows.into_iter().for_each(|row| self.printed_line(number, row, row.len(), is_cut));
        }
        // With a time of its own it is not the rest of a message above it.
        let is_own = self.collected.last.is_none() && self.stamps.has(number);
        if !self.held.is_empty()
            && !is_own
            && self.shape(text) == Shape::Foreign
            && let Some(whole) = self.held.with(text)
        {
            let in_one_word = || self.held.in_one_word(text).filter(|one| self.is_event(one));
            let (is_row, breaks_word) = (self.shape(&whole) == Shape::Whole, self.held.breaks_word(text));
            if (breaks_word || !is_row)
                && let Some(whole) = in_one_word()
            {
                self.held.broke_word();
                self.held.take();
                self.known(&whole, is_cut, MayHold::Nothing);
                return;
            }
            let is_message = || self.collected.last.is_none() && kernel_log::is_broken_message(&whole, text);
            if is_row || is_message() {
                self.held.take();
                self.known(&whole, is_cut, MayHold::Nothing);
                return;
            }
            if self.held.hold(HeldLine { number, text: text.to_owned(), columns, is_cut }) {
                return;
            }
        }
        self.release();
        self.number = number;
        let may_be_in_two = self.held.is_as_wide(columns) && self.is_event(text);
        match !may_be_in_two && self.known(text, is_cut, Held::may_hold(columns)) {
            true => self.held.passed(text, columns),
            false => self.held.begin(HeldLine { number, text: text.to_owned(), columns, is_cut }),
        }
    }

    /// Takes in what was held back, line by line: the next one is not the rest of it.
    fn release(&mut self) {
        for line in self.held.take() {
            self.number = line.number;
            self.known(&line.text, line.is_cut, MayHold::Nothing);
            self.held.passed(&line.text, line.columns);
        }
    }

    /// Takes a line in; false where it ends too early and `may` allows to wait for the next one.
    fn known(&mut self, text: &str, is_cut: bool, may: MayHold) -> bool {
        let may_hold = may == MayHold::All;
        if is_cut {
            self.cut_lines.add(self.number, text);
        }
        match text.bytes().next() {
            // `perf script` prints one behind each stack.
            None if self.frames != Some(Frames::Perf) => self.collected.pieces.blank(self.number),
            None => {}
            // The mark of a long call.
            Some(b'#') if text.starts_with("# ") && self.is_bare_call(text) => {}
            Some(b'#') if may_hold && header::may_break(text) => return false,
            Some(b'#') => self.comment(text),
            // A frame of a stack trace, which belongs to the event above it.
            Some(b'=') if text.starts_with("=>") && !self.bare_header(text) => {
                self.frame(text.get(2..).unwrap_or(""));
                if let Some(other) = self.other.as_mut().filter(|_| self.collected.last.is_none()) {
                    other.followed_by(OtherLine::bare(self.number, text));
                }
            }
            Some(b'[') if lttng::begins(text) => match lttng::parse(text) {
                Some(line) => {
                    let (head, body) = line.event(&mut self.clock, &mut self.callbacks);
                    self.header.is_lttng = true;
                    return self.event_line(&head, &body, false);
                }
                None if may_hold => return false,
                None => self.strange_lines.add(self.number, text),
            },
            _ => match line::split(text) {
                Some((_, body)) if self.decimals.are_damaged(text, body) => {
                    self.decimals.damaged.add(self.number, text);
                }
                Some((head, body)) => {
                    if let Some(latency) = &self.header.latency {
                        self.further.row(RowForm::Event, head.ts, latency.entries, self.collected.last);
                    }
                    let is_taken = self.event_line(&head, body, may != MayHold::Nothing);
                    if is_taken {
                        self.further.took(RowForm::Event);
                        self.counts.row(text, &head, body);
                    }
                    match self.header.latency.as_mut().filter(|_| is_taken) {
                        None if is_taken => {
                            self.ended = fragment::end_of_section(text, &head, body)
                                .or(self.ended.take().filter(|_| body::stack(body).is_some()));
                        }
                        None => {}
                        Some(latency) => {
                            let before = latency.marked.map_or(Ns::ZERO, |marked| marked.least);
                            let marked = fragment::marked(text, &head, body);
                            latency.marked = marked.filter(|one| one.least > before).or(latency.marked);
                        }
                    }
                    return is_taken;
                }
                None => return self.other_line(text, may_hold),
            },
        }
        true
    }

    /// The header's facts are known before the first event.
    pub(crate) fn tell_first_facts(&mut self) {
        self.collected.facts_first(std::mem::take(&mut self.header.facts));
    }

    /// Reading failed; what was read so far is all there is.
    pub(crate) fn failed(&mut self, error: &std::io::Error) {
        let what = format!("reading failed ({error}): what follows is missing");
        self.failed = Some(Damage::at(self.lines + 1, what));
    }

    /// The text has ended.
    pub(crate) fn end(&mut self) {
        self.end_of_string();
        self.release();
        self.no_bare_calls();
        if !self.has_content() {
            self.commented_lines();
        }
        self.analyses.end();
        self.delay_table.end();
        self.woken_by_name.end(&self.names.all(), &mut self.collected, &mut self.strange_fields);
        if let Some(ended) = self.ended.take().filter(|_| self.collected.read <= MOST_OF_A_FRAGMENT) {
            self.header.fragment(ended);
        }
        self.collected.end(self.number);
    }

    /// True when something was found that can be explained.
    pub(crate) fn has_content(&self) -> bool {
        // The hwlat tracer prints only what it found: an empty trace of it is an answer.
        let is_empty_hwlat = self.header.tracer.as_deref() == Some("hwlat");
        self.collected.last.is_some()
            || self.collected.is_timehist()
            || !self.analyses.breakdowns.is_empty()
            || self.analyses.is_within()
            || is_empty_hwlat
    }
}
