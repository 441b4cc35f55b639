//! What a line of a known kind means: an event's row, a comment, a frame of a stack, or another line of a trace.

use super::Reader;
use crate::pasted;
use crate::text::body::{self, Body, Stack};
use crate::text::event_head::Frames;
use crate::text::line::{self, Head};
use crate::text::rtla::RtlaLine;
use crate::text::tables::{self, OtherLine};
use crate::text::{
    fields, fragment, graph, header, lttng, old_priorities, prose, remarks, switch_heads, timehist,
};
use whylate_events::{Event, EventKind, Symbol};

impl Reader {
    pub(super) fn comment(&mut self, text: &str) {
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

    pub(super) fn event_line(&mut self, head: &Head<'_>, body: &str, may_hold: bool) -> bool {
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

    pub(super) fn other_line(&mut self, text: &str, may_hold: bool) -> bool {
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

    pub(super) fn frame(&mut self, function: &str) {
        let (Some(Frames::Kernel | Frames::Perf), Some(last)) = (self.frames, self.collected.last) else {
            return;
        };
        let name: Symbol = fields::symbol(function);
        if !name.is_empty() {
            self.collected.keep(self.number, last.event(EventKind::StackFrame { name }));
        }
    }

    /// Every line that is of a trace stands in a comment.
    pub(super) fn commented_lines(&mut self) {
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
}
