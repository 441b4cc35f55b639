//! A whole recording as text, line by line.

use super::printer::strip_newline;
use super::{Mode, Printer};
use crate::dat::{RawEvents, TraceFile};

/// All lines of a recording: what `trace-cmd report` prints, or what the kernel's `trace` file
/// would have shown.
pub struct Lines<'f> {
    printer: Printer<'f>,
    events: RawEvents,
    begun: bool,
    /// The begin of a function, held back until the next event shows whether it calls another.
    entry: Option<OpenCall>,
    /// The line that a held-back one pushed behind it.
    ready: Vec<u8>,
}

/// What is known of a function that began.
struct OpenCall {
    head: Vec<u8>,
    nested: Vec<u8>,
    tid: i32,
    buffer: usize,
    function: u64,
    depth: u64,
}

impl<'f> Lines<'f> {
    /// The lines of a recording.
    pub fn new(file: &'f TraceFile, mode: Mode) -> Lines<'f> {
        Lines::with(file, Printer::new(file, mode))
    }

    /// The lines of a recording, printed by a printer of it.
    pub fn with(file: &'f TraceFile, printer: Printer<'f>) -> Lines<'f> {
        Lines { printer, events: file.raw_events(), begun: false, entry: None, ready: Vec::new() }
    }

    /// What printed the lines, with its counts.
    pub fn printer(&self) -> &Printer<'f> {
        &self.printer
    }

    /// Appends the next event's line (or lines) with a newline; false at the end.
    pub fn next_line(&mut self, out: &mut Vec<u8>) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            self.printer.header(out);
        }
        if !self.ready.is_empty() {
            out.append(&mut self.ready);
            return true;
        }
        loop {
            let Some(event) = self.events.next() else {
                return match self.entry.take() {
                    Some(entry) => entry.write_nested(out),
                    None => false,
                };
            };
            if let Some(entry) = self.entry.take() {
                let same = (entry.tid, entry.buffer) == (event.context.tid.0, event.buffer);
                if let Some(exit) = self.printer.graph_exit(event.id).filter(|_| same) {
                    let record = self.printer.record(&event);
                    if record.value(&exit.function).bits == entry.function {
                        out.extend(&entry.head);
                        exit.write_leaf(&record, entry.depth, out);
                        out.push(b'\n');
                        return true;
                    }
                }
                entry.write_nested(out);
                self.entry = hold(&mut self.printer, &event);
                if self.entry.is_none() {
                    self.printer.line(&event, &mut self.ready);
                    self.ready.push(b'\n');
                }
                return true;
            }
            self.entry = hold(&mut self.printer, &event);
            if self.entry.is_none() {
                self.printer.line(&event, out);
                out.push(b'\n');
                return true;
            }
        }
    }
}

/// Holds the begin of a function back; `None` for any other event.
fn hold(printer: &mut Printer<'_>, event: &crate::dat::RawEvent<'_>) -> Option<OpenCall> {
    let (function, depth) = printer.graph_entry(event)?;
    let (mut head, mut nested) = (Vec::new(), Vec::new());
    printer.head(event, &mut head);
    printer.text(event, &mut nested);
    strip_newline(&mut nested);
    Some(OpenCall { head, nested, tid: event.context.tid.0, buffer: event.buffer, function, depth })
}

impl OpenCall {
    fn write_nested(mut self, out: &mut Vec<u8>) -> bool {
        out.append(&mut self.head);
        out.append(&mut self.nested);
        out.push(b'\n');
        true
    }
}
