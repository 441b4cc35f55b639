//! One event at a time as a line of text.

use super::bprint::Bprint;
use super::calls::Calls;
use super::eval::Record;
use super::flags::write_flags;
use super::format::Format;
use super::raw::write_fields;
use super::special::{GraphExit, Special};
use super::text::put;
use super::{Mode, Names};
use crate::bytes::until_nul;
use crate::dat::{RawEvent, TraceFile};
use crate::format::EventFormat;
use std::collections::{BTreeMap, HashMap};
use whylate_base::Tid;

/// Prints the events of one recording. The format of each kind of event is compiled once; after
/// that an event is written without memory of its own.
pub struct Printer<'f> {
    file: &'f TraceFile,
    names: Names,
    /// By event id.
    events: Vec<Option<Event>>,
    /// Names from scheduler events, of threads the recording has no name for.
    learned: HashMap<i32, Box<[u8]>>,
    failed: BTreeMap<u16, u64>,
    calls: Calls,
    nanoseconds: bool,
    flags: bool,
    /// Whether the clock counts nanoseconds.
    in_ns: bool,
    /// Before the lines of each buffer, where there are several.
    prefixes: Vec<String>,
}

/// How a kind of event is printed.
enum Event {
    Format(Format),
    Special(Box<Special>, Option<Format>),
    Bprint(Bprint),
    /// Its `print fmt` is not understood, and why.
    Failed(String),
}

impl<'f> Printer<'f> {
    /// Compiles the formats of a recording.
    pub fn new(file: &'f TraceFile, mode: Mode) -> Printer<'f> {
        let layout = file.page_layout();
        let names = Names {
            mode,
            long_size: layout.long_size,
            symbols: file.symbols(),
            printk: printk_formats(file.printk_formats()),
        };
        let slots = file.formats().iter().map(|format| usize::from(format.id) + 1).max().unwrap_or(0);
        let mut events = Vec::new();
        events.resize_with(slots, || None);
        for format in file.formats().iter() {
            events[usize::from(format.id)] = Some(Event::compile(format, &names));
        }
        // The longest name's width; trace-cmd starts with the file's own, which is empty.
        let several = file.buffers().len() > 1;
        let widest = file.buffers().iter().map(|buffer| buffer.name.len()).max().unwrap_or(0);
        let prefix = |name: &str| match name {
            _ if !several => String::new(),
            "" => format!("{:widest$}  ", ""),
            name => format!("{name:>widest$}: "),
        };
        Printer {
            file,
            names,
            events,
            learned: HashMap::new(),
            failed: BTreeMap::new(),
            calls: Calls::default(),
            nanoseconds: false,
            flags: mode == Mode::Kernel,
            in_ns: file.in_nanoseconds(),
            prefixes: file.buffers().iter().map(|buffer| prefix(&buffer.name)).collect(),
        }
    }

    /// Prints times to the nanosecond, as `trace-cmd report -t`.
    pub fn with_nanoseconds(mut self) -> Printer<'f> {
        self.nanoseconds = true;
        self
    }

    /// Prints in what context each event happened, as `trace-cmd report -l`.
    pub fn with_flags(mut self) -> Printer<'f> {
        self.flags = true;
        self
    }

    /// The kinds of events whose `print fmt` was not understood, with what was not. An argument
    /// that only the kernel knows is printed as `?`; where nothing is understood, the fields
    /// are printed one by one, behind `[FAILED TO PARSE]`.
    pub fn not_understood(&self) -> impl Iterator<Item = (&EventFormat, &str)> {
        self.file.formats().iter().filter_map(|format| match self.events.get(usize::from(format.id))? {
            Some(Event::Failed(why)) => Some((&**format, why.as_str())),
            Some(Event::Format(compiled)) => Some((&**format, compiled.unknown.first()?.as_str())),
            _ => None,
        })
    }

    /// How many events were printed field by field, by event id.
    pub fn failed(&self) -> &BTreeMap<u16, u64> {
        &self.failed
    }

    /// The lines before the first event, each with its newline.
    pub fn header(&self, out: &mut Vec<u8>) {
        match self.names.mode {
            Mode::TraceCmd => put!(out, "cpus={}\n", self.file.info().cpus),
            Mode::Kernel => put!(out, "# tracer: nop\n#\n"),
        }
    }

    /// Appends an event's line, without a newline at its end; before it, where the kernel lost
    /// events, the line that reports them.
    pub fn line(&mut self, event: &RawEvent<'_>, out: &mut Vec<u8>) {
        self.head(event, out);
        self.text(event, out);
        strip_newline(out);
    }

    /// The part of the line before what happened.
    pub(super) fn head(&mut self, event: &RawEvent<'_>, out: &mut Vec<u8>) {
        out.extend(self.prefixes.get(event.buffer).map_or("", String::as_str).bytes());
        let name = event.format.map(|format| format.name.as_str());
        match (event.lost, self.names.mode) {
            (None, _) => {}
            (Some(lost), Mode::TraceCmd) => match lost.count {
                Some(count) => put!(out, "CPU:{} [{count} EVENTS DROPPED]\n", event.cpu),
                None => put!(out, "CPU:{} [EVENTS DROPPED]\n", event.cpu),
            },
            (Some(lost), Mode::Kernel) => match lost.count {
                Some(count) => put!(out, "CPU:{} [LOST {count} EVENTS]\n", event.cpu),
                None => put!(out, "CPU:{} [LOST EVENTS]\n", event.cpu),
            },
        }
        let start = out.len();
        let comm = self.comm(event.context.tid);
        let (tid, cpu) = (event.context.tid, event.cpu);
        match self.names.mode {
            Mode::TraceCmd if self.flags => {
                let comm = &comm[..comm.len().min(8)];
                out.extend(comm);
                right(out, start, 8);
                put!(out, "-{tid:<5} {cpu:>3}");
                write_flags(event, self.names.mode, out);
                self.write_time(event, out);
                put!(out, ": {:<21} ", Colon(name.unwrap_or("(NULL)")));
            }
            Mode::TraceCmd => {
                out.extend(comm);
                right(out, start, 16);
                put!(out, "-{tid:<5} [{cpu:03}]");
                self.write_time(event, out);
                put!(out, ": {:<21} ", Colon(name.unwrap_or("(NULL)")));
            }
            Mode::Kernel => {
                out.extend(comm);
                right(out, start, 16);
                put!(out, "-{tid:<7} [{cpu:03}] ");
                write_flags(event, self.names.mode, out);
                self.write_time(event, out);
                out.extend(b": ");
                // ftrace's own events have a form of their own, without a name.
                if !event.format.is_some_and(|format| is_nameless(format)) {
                    put!(out, "{}: ", name.unwrap_or("unknown"));
                }
            }
        }
    }

    /// Appends what happened: the part behind the event's name.
    pub fn text(&mut self, event: &RawEvent<'_>, out: &mut Vec<u8>) {
        let record = Record {
            bytes: event.payload,
            endian: event.endian(),
            names: &self.names,
            cpu: event.cpu,
            calls: &self.calls,
        };
        let Some(Some(kind)) = self.events.get(usize::from(event.id)) else {
            put!(out, "[UNKNOWN EVENT] id={}", event.id);
            *self.failed.entry(event.id).or_default() += 1;
            return;
        };
        let understood = match kind {
            Event::Format(format) => format.write(&record, out),
            Event::Special(special, format) => {
                let done = special.write(&record, out)
                    || format.as_ref().is_some_and(|format| format.write(&record, out));
                for task in special.tasks() {
                    let tid = record.value(&task.pid).bits as i32;
                    if let Some(comm) = task.comm.and_then(|comm| record.slot(&comm))
                        && tid != 0
                        && self.file.comm(Tid(tid)).is_none()
                    {
                        self.learned.entry(tid).or_insert_with(|| until_nul(comm).into());
                    }
                }
                done
            }
            Event::Bprint(bprint) => {
                if !bprint.write(&record, out) {
                    *self.failed.entry(event.id).or_default() += 1;
                }
                true
            }
            Event::Failed(_) => false,
        };
        if !understood {
            *self.failed.entry(event.id).or_default() += 1;
            out.extend(b"[FAILED TO PARSE]");
            if let Some(format) = event.format {
                write_fields(format, event.endian(), &self.names, event.payload, out);
            }
        }
    }

    /// A thread's name.
    pub fn comm(&self, tid: Tid) -> &[u8] {
        match (tid.0, self.file.comm(tid)) {
            (0, _) => b"<idle>",
            (_, Some(comm)) => comm.as_bytes(),
            _ => self.learned.get(&tid.0).map_or(b"<...>", |comm| &comm[..]),
        }
    }

    /// The end of a function in the function graph, if that is what the event is.
    pub(super) fn graph_exit(&self, id: u16) -> Option<&GraphExit> {
        match self.events.get(usize::from(id))? {
            Some(Event::Special(special, _)) => match &**special {
                Special::GraphExit(exit) => Some(exit),
                _ => None,
            },
            _ => None,
        }
    }

    /// Function and depth of an event that is the begin of one in the function graph.
    pub(super) fn graph_entry(&self, event: &RawEvent<'_>) -> Option<(u64, u64)> {
        match self.events.get(usize::from(event.id))? {
            Some(Event::Special(special, _)) => match &**special {
                Special::GraphEntry { function, depth } => {
                    let record = self.record(event);
                    Some((record.value(function).bits, record.value(depth).bits))
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn record<'r>(&'r self, event: &RawEvent<'r>) -> Record<'r> {
        Record {
            bytes: event.payload,
            endian: event.endian(),
            names: &self.names,
            cpu: event.cpu,
            calls: &self.calls,
        }
    }

    fn write_time(&self, event: &RawEvent<'_>, out: &mut Vec<u8>) {
        let time = event.ts.0 as u64;
        match (self.in_ns, self.nanoseconds) {
            (false, _) if self.names.mode == Mode::Kernel => put!(out, " {time:>12}"),
            (false, _) => put!(out, "{time:>12}"),
            (true, true) => put!(out, " {:>5}.{:09}", time / 1_000_000_000, time % 1_000_000_000),
            (true, false) => {
                let us = time.saturating_add(500) / 1000;
                put!(out, " {:>5}.{:06}", us / 1_000_000, us % 1_000_000);
            }
        }
    }
}

impl Event {
    fn compile(format: &EventFormat, names: &Names) -> Event {
        if format.system == "ftrace"
            && format.name == "bprint"
            && let Some(bprint) = Bprint::compile(format, names.long_size)
        {
            return Event::Bprint(bprint);
        }
        let compiled = Format::compile(format, names.long_size);
        match (Special::compile(format, compiled.as_ref().ok(), names.mode, names.long_size), compiled) {
            (Some(special), compiled) => Event::Special(Box::new(special), compiled.ok()),
            (None, Ok(compiled)) => Event::Format(compiled),
            (None, Err(why)) => Event::Failed(why),
        }
    }
}

/// A name with its colon, in one column.
struct Colon<'n>(&'n str);

impl std::fmt::Display for Colon<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.0)?;
        let missing = f.width().unwrap_or(0).saturating_sub(self.0.len() + 1);
        write!(f, "{:missing$}", "")
    }
}

/// Moves what was written from `start` on to the right end of its column.
fn right(out: &mut Vec<u8>, start: usize, width: usize) {
    let missing = width.saturating_sub(out.len() - start);
    out.resize(out.len() + missing, b' ');
    out[start..].rotate_right(missing);
}

pub(super) fn strip_newline(out: &mut Vec<u8>) {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
}

fn is_nameless(format: &EventFormat) -> bool {
    format.system == "ftrace"
        && matches!(
            format.name.as_str(),
            "function"
                | "print"
                | "bprint"
                | "bputs"
                | "kernel_stack"
                | "user_stack"
                | "raw_data"
                | "funcgraph_entry"
                | "funcgraph_exit"
        )
}

/// Reads `0xADDRESS : "STRING"` lines.
fn printk_formats(text: &[u8]) -> HashMap<u64, Box<[u8]>> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().filter_map(|line| {
        let (address, text) = line.split_once(':')?;
        let address = u64::from_str_radix(address.trim().strip_prefix("0x")?, 16).ok()?;
        let text = text.trim_start().strip_prefix('"')?;
        let text = text.strip_suffix('"').unwrap_or(text);
        Some((address, unescaped(text.strip_suffix("\\n").unwrap_or(text))))
    });
    lines.collect()
}

/// Resolves `\n`, `\t`, `\"` and `\\`, as `printk_formats` writes them.
fn unescaped(text: &str) -> Box<[u8]> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(other) => other,
                None => b'\\',
            },
            byte => byte,
        });
    }
    out.into()
}
