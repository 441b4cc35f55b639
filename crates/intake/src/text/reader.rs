//! From lines to events: what each line is, and what it means for the lines around it.

mod begun_string;
mod beside;
mod described;
mod graph_lines;
mod line_stamps;
mod raw_line;

use super::body::{self, Body, Stack};
use super::collected::Collected;
use super::commented::Commented;
use super::counts::Counts;
use super::current::CurrentThreads;
use super::decimals::Decimals;
use super::delay_table::DelayTable;
use super::event_head::Frames;
use super::fields;
use super::fragment;
use super::further::{FurtherRecording, RowForm};
use super::graph;
use super::header::{self, Header};
use super::held::{Held, HeldLine, MayHold, Shape};
use super::hwlatdetect::Hwlatdetect;
use super::kernel_log;
use super::line::{self, Head};
use super::lttng;
use super::names::Names;
use super::old_priorities;
use super::prose;
use super::remarks;
use super::ros2::RosCallbacks;
use super::rtla::{Analyses, RtlaLine};
use super::squeezed;
use super::switch_heads;
use super::tables::{self, Other, OtherLine};
use super::tally::Tally;
use super::timehist;
use super::woken_by_name::WokenByName;
use crate::pasted;
use begun_string::BegunString;
use line_stamps::LineStamps;
use whylate_base::Ns;
use whylate_events::{Damage, Event, EventKind, KindSet, LatencyTrace, Symbol};

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

    /// What a line is by itself.
    fn shape(&self, text: &str) -> Shape {
        if text.is_empty() || text.starts_with('#') || text.starts_with("=>") {
            return Shape::Whole;
        }
        if lttng::begins(text) {
            return lttng::parse(text).map_or(Shape::Early, |_| Shape::Whole);
        }
        match line::split(text).map(|(head, body)| (body::parse(&head, body, self.header.numbers), body)) {
            Some((body, text)) if body.ends_early(text) => Shape::Early,
            Some(_) => Shape::Whole,
            None if header::loss(text).is_some() || graph::parse(text).is_some() => Shape::Whole,
            None if timehist::parse(text).is_some() => Shape::Whole,
            None if timehist::begins(text) => Shape::Early,
            None => self.analyses.shape(text),
        }
    }

    /// True of an event's row with all of its fields.
    fn is_event(&self, text: &str) -> bool {
        line::split(text).is_some_and(|(head, body)| {
            matches!(body::parse(&head, body, self.header.numbers), Body::Event(_))
        })
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

    fn comment(&mut self, text: &str) {
        match remarks::is_heading(text) {
            true => self.collected.pieces.remark(self.number, text),
            false => self.collected.pieces.headed(),
        }
        if self.collected.last.is_none() {
            self.commented.keep(self.number, text);
        }
        let logged = &self.stamps.restored(self.number, text);
        tables::comment(&mut self.other, OtherLine { number: self.number, text, logged });
        if self.hwlatdetect.takes(self.number, text, &mut self.analyses.breakdowns) {
            return;
        }
        if matches!(self.analyses.line(self.number, text), RtlaLine::Nothing | RtlaLine::Strange) {
            let (traces, facts) = (self.header.latency_traces, self.header.facts.len());
            self.header.comment(text.trim_start_matches('#'));
            // A header may be quoted before the trace that it is of.
            if self.header.latency_traces > traces.max(1) && self.collected.last.is_some() {
                self.further.latency_trace(self.number);
            } else if self.collected.last.is_some() && header::is_title(text) {
                self.further.title(self.number);
            }
            // Facts between the events hold from there on.
            if let Some(last) = self.collected.last {
                self.collected.facts_at(self.number, last, self.header.facts.split_off(facts));
            }
        }
    }

    fn event_line(&mut self, head: &Head<'_>, body: &str, may_hold: bool) -> bool {
        if !self.further.precedes(head.cpu, head.ts, self.collected.last) {
            self.frames = None;
            return true;
        }
        let mut parsed = body::parse(head, body, self.header.numbers);
        if may_hold && parsed.ends_early(body) {
            return false;
        }
        self.names.learn(self.current.number(head), head.comm);
        if self.collected.last.is_none() && self.header.latency.is_some() {
            self.header.first_line(head.cpu, head.context, head.comm);
            if let Some(task) = self.header.latency.as_ref().and_then(|latency| latency.task) {
                self.names.learn(task.tid, task.comm.as_str());
            }
        }
        self.free_text = matches!(parsed, Body::Event(EventKind::Marker(_)))
            || ["bprint:", "bputs:", "bpf_trace_printk:"].iter().any(|name| body.starts_with(name));
        self.frames = head.by_perf.then_some(Frames::Perf);
        self.header.is_perf |= head.by_perf;
        if let (Body::Event(kind), Some(task)) = (&mut parsed, self.header.old_task()) {
            old_priorities::mend(kind, task);
        }
        let at = self.current.at(head, &parsed);
        self.collected.buffers.saw(head.buffer, &at, parsed.kind());
        match parsed {
            // In the latency traces of old kernels a function's row stands for a switch.
            Body::Event(kind @ EventKind::Switch(_)) if body.contains("sched_switch") => {
                let event = switch_heads::by_who_leaves(head.comm, Event { kind, ..at });
                self.collected.event(self.number, event);
            }
            Body::Event(kind) => self.collected.event(self.number, Event { kind, ..at }),
            Body::Call(call) => {
                let call = self.clock.placed(head.cpu, call);
                self.call(at, call);
            }
            Body::Stack(stack) => {
                self.frames = Some(match stack {
                    Stack::Kernel => Frames::Kernel,
                    Stack::User => Frames::User,
                });
                self.collected.met(self.number, &at);
            }
            Body::Queued(queued) => self.collected.queued(self.number, at, queued),
            Body::RanFor(ran) => self.collected.ran_for(self.number, at, ran),
            Body::Lost(count) => self.collected.loss_at(self.number, count, &at),
            Body::Unknown => self.collected.event(self.number, at),
            Body::Damaged => {
                if !self.woken_by_name.keep(self.number, body, at) {
                    self.strange_fields.add(self.number, body);
                }
                self.collected.event(self.number, at);
            }
        }
        true
    }

    fn other_line(&mut self, text: &str, may_hold: bool) -> bool {
        if self.bare_header(text) {
        } else if header::begins_page(text) {
            // Where the clock went back meanwhile, the times do not follow on one another.
            self.collected.pieces.blank(self.number);
        } else if let Some(loss) = header::loss(text) {
            self.collected.loss_waits(&loss);
        } else if let Some(line) = graph::parse(text) {
            self.ended =
                fragment::end_of_section_in_graph(text, &line).filter(|_| self.header.latency.is_none());
            self.graph_line(line);
        } else if self.is_bare_call(text) {
        } else if let Some(row) = timehist::parse(text) {
            row.thread().into_iter().for_each(|(tid, comm)| self.names.learn(tid, comm));
            self.collected.row(self.number, row, text);
        } else if self.frames == Some(Frames::Perf)
            && let Some(function) = line::perf_frame(text)
        {
            self.frame(function);
        } else if self.hwlatdetect.takes(self.number, text, &mut self.analyses.breakdowns) {
            self.is_shown(self.number, text);
        } else {
            match self.analyses.line(self.number, text) {
                RtlaLine::Read => self.is_shown(self.number, text),
                RtlaLine::Task(tid, comm) => self.names.learn(tid, comm.as_str()),
                RtlaLine::Nothing
                    if self.header.report_line(text) || self.free_text || graph::is_ornament(text) => {}
                RtlaLine::Nothing if timehist::is_title(text) => {
                    self.collected.pieces.titled();
                    self.is_shown(self.number, text);
                }
                RtlaLine::Nothing if self.delay_table.takes(self.number, text) => self.beside(text),
                RtlaLine::Nothing | RtlaLine::Strange if self.is_rest(text) => {}
                RtlaLine::Nothing | RtlaLine::Strange if may_hold => return false,
                RtlaLine::Nothing | RtlaLine::Strange => {
                    self.is_shown(self.number, text);
                    if self.strange_row.is_none()
                        && self.header.tracer.is_some()
                        && prose::is_like_a_row(text)
                    {
                        self.strange_row = Some(self.number);
                    }
                    match prose::has_a_trace_lines_parts(text) {
                        true => self.strange_lines.add(self.number, text),
                        false => {
                            self.prose.add(self.number, text);
                            self.further.remark(self.number);
                        }
                    }
                    self.collected.pieces.remark(self.number, text);
                    let entries = self.header.latency.as_ref().and_then(|latency| latency.entries);
                    // Behind the last row of a trace nothing of it is left out.
                    let may_lack = !self.further.has_all(entries);
                    if let Some(last) = self.collected.last.filter(|_| may_lack && pasted::leaves_out(text)) {
                        self.collected.leaves_out(self.number, last.ts);
                        self.clock.leaves_out();
                    }
                }
            }
        }
        true
    }

    /// True of the rest of a line that was whole without it.
    fn is_rest(&self, text: &str) -> bool {
        self.held.last_with(text).is_some_and(|whole| self.shape(&whole) == Shape::Whole)
    }

    fn frame(&mut self, function: &str) {
        let (Some(Frames::Kernel | Frames::Perf), Some(last)) = (self.frames, self.collected.last) else {
            return;
        };
        let name: Symbol = fields::symbol(function);
        if !name.is_empty() {
            self.collected.keep(self.number, last.event(EventKind::StackFrame { name }));
        }
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

    /// Every line that is of a trace stands in a comment.
    fn commented_lines(&mut self) {
        for (number, text, columns) in self.commented.take() {
            self.number = number;
            let is_of_trace = line::split(&text).is_some()
                || graph::parse(&text).is_some()
                || text.starts_with("=>")
                || lttng::begins(&text)
                || header::loss(&text).is_some()
                || timehist::parse(&text).is_some();
            // The rest of a line that was broken.
            let may_be_rest = !self.held.is_empty() && self.held.with(&text).is_some();
            match is_of_trace || may_be_rest {
                true => self.printed_line(number, &text, columns, false),
                false => self.is_shown(number, &text),
            }
        }
        self.release();
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
