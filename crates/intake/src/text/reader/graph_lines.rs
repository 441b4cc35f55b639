//! Lines of the function_graph tracer, as events.

use super::super::event_head::NOBODY_KNOWN;
use super::super::further::RowForm;
use super::super::graph::{self, Call, CallPart, GraphLine, Taken, What};
use super::super::line::Head;
use super::Reader;
use whylate_events::{Context, ContextFlags, Event, EventKind, Symbol};

impl Reader {
    /// Takes in a line of the tracer that has no CPU, and those that waited for it; false where it is none.
    pub(super) fn is_bare_call(&mut self, text: &str) -> bool {
        // Among other rows a drawing with bars has no calls.
        if self.collected.last.is_some() && !self.bare_calls.are_begun() {
            return false;
        }
        let here = self.number;
        match self.bare_calls.take(here, text) {
            Taken::Foreign(lines) => {
                self.are_prose(&lines);
                return false;
            }
            Taken::Waits => {}
            Taken::Calls(lines) => {
                for (number, text) in &lines {
                    self.number = *number;
                    graph::parse_bare(text).into_iter().for_each(|line| self.graph_line(line));
                }
                self.number = here;
            }
        }
        true
    }

    /// The lines that wait are of no trace.
    pub(super) fn no_bare_calls(&mut self) {
        let lines = self.bare_calls.end();
        self.are_prose(&lines);
    }

    fn are_prose(&mut self, lines: &[(u64, String)]) {
        for (number, text) in lines {
            self.is_shown(*number, text);
            self.prose.add(*number, text);
        }
    }

    /// Takes in a line of the tracer.
    pub(super) fn graph_line(&mut self, line: GraphLine<'_>) {
        if let (Some(latency), Some(ts)) = (&self.header.latency, line.ts) {
            self.further.row(RowForm::Graph, ts, latency.entries, self.collected.last);
            self.further.took(RowForm::Graph);
        }
        if self.further.begins().is_some() {
            return;
        }
        if let What::Switch(comm, tid) = line.what {
            self.names.learn(tid, comm);
            self.clock.switch(line.cpu, tid);
            return;
        }
        if let Some((comm, tid)) = line.thread {
            self.names.learn(tid, comm);
            self.clock.switch(line.cpu, tid);
        }
        let line = &self.clock.nested(line);
        let returning = match line.what {
            What::Call(Call { name, depth, part: CallPart::Exit(duration), .. }) if name.is_empty() => {
                self.clock.returning(line, depth, duration)
            }
            What::Call(call) => call.name,
            _ => Symbol::default(),
        };
        let ts = self.clock.at(line);
        let tid = self.clock.thread(line.cpu).unwrap_or(NOBODY_KNOWN);
        let (flags, preempt_depth) = line.state.unwrap_or((ContextFlags::IRQS_UNKNOWN, None));
        let context = Context { tid, flags, preempt_depth };
        match line.what {
            What::Call(call) => {
                let at = Event { ts, cpu: line.cpu, context, kind: EventKind::Other };
                self.call(at, Call { name: returning, ..call });
            }
            What::Comment(body) => {
                let head = Head { comm: "", context, cpu: line.cpu, ts, by_perf: false, buffer: "" };
                self.event_line(&head, body, false);
            }
            What::LeftOut => self.collected.leaves_out(self.number, ts),
            What::Ornament | What::Switch(..) => {}
        }
    }

    /// A leaf is two events, of which the second has no line of its own.
    pub(super) fn call(&mut self, at: Event, Call { name, depth, part, .. }: Call) {
        let kind = match part {
            CallPart::Entry | CallPart::Leaf(_) => EventKind::FunctionEntry { name, depth },
            CallPart::Exit(duration) => EventKind::FunctionExit { name, depth, duration },
        };
        self.collected.event(self.number, Event { kind, ..at });
        if let CallPart::Leaf(duration) = part {
            let ts = graph::returns(at.ts, duration);
            let kind = EventKind::FunctionExit { name, depth, duration };
            self.collected.also(self.number, Event { ts, kind, ..at });
        }
    }
}
