//! Text as `trace-cmd report` prints it: a line for each event, times to the nanosecond.
//!
//! A trace.dat is printed by its own formats, every field that was recorded; of any other source the lines
//! hold what its typed events hold, in the kernel's words.

mod fields;
mod latency;
mod values;

use crate::cut::Cut;
use crate::raw;
use crate::sink::{Written, each};
use crate::threads::Threads;
use std::fmt::Write as _;
use std::io::{self, Write};
use values::one_line;
use whylate_events::{ContextFlags, Event, EventKind, EventSource, TraceInfo};
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::print::{Mode, Printer};

/// Writes the events of `source` that `cut` keeps.
///
/// # Errors
/// What `out` answers.
pub fn write(
    source: &mut (impl EventSource + ?Sized),
    cut: &Cut,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let mut written = Written::default();
    out.write_all(about(source.info()).as_bytes())?;
    writeln!(out, "cpus={}", source.info().cpus)?;
    let mut line = String::new();
    let mut events = 0;
    let mut stack = None;
    let mut header = latency::Header::of(source.info());
    each(source, cut, &mut written, |event, selected| {
        line.clear();
        if header.as_mut().is_some_and(|header| header.takes(event)) {
            events += 1;
            return Ok(());
        }
        if let Some(header) = header.take() {
            line.push_str(&header.text());
        }
        let frame = matches!(event.kind, EventKind::StackFrame { .. }).then_some((event.ts, event.cpu));
        if frame.is_some() && frame != stack {
            head(event, selected.threads(), &mut line);
            line.push_str("kernel_stack: <stack trace>\n");
        }
        stack = frame;
        print(event, selected.threads(), &mut line);
        events += 1;
        out.write_all(line.as_bytes())
    })?;
    if let Some(header) = header {
        out.write_all(header.text().as_bytes())?;
    }
    out.flush()?;
    Ok(Written { events, ..written })
}

/// Writes the records of a trace.dat that `cut` keeps, by its own print formats.
///
/// # Errors
/// What `out` answers.
pub fn write_recorded(file: &TraceFile, cut: &Cut, out: &mut dyn Write) -> io::Result<Written> {
    let mut written = Written::default();
    let mut printer = Printer::new(file, Mode::TraceCmd).with_nanoseconds();
    let mut line = about(file.info()).into_bytes();
    printer.header(&mut line);
    out.write_all(&line)?;
    let lost = raw::each(file, cut, &mut written, |event| {
        line.clear();
        printer.line(event, &mut line);
        line.push(b'\n');
        out.write_all(&line)
    })?;
    for end in lost {
        // In trace-cmd's words for a loss before an event.
        match end.lost.count {
            Some(count) => writeln!(out, "CPU:{} [{count} EVENTS DROPPED]", end.cpu)?,
            None => writeln!(out, "CPU:{} [EVENTS DROPPED]", end.cpu)?,
        }
    }
    out.flush()?;
    Ok(written)
}

/// A comment with what no line of a report shows, and an explanation needs: `# whylate: clock=mono ...`.
fn about(info: &TraceInfo) -> String {
    let known = [("clock", &info.clock), ("release", &info.kernel_release), ("machine", &info.machine)];
    let mut line = String::from("# whylate:");
    for (key, value) in known {
        // A word; what a damaged file calls a clock may be anything.
        let word =
            value.as_deref().filter(|value| !value.is_empty() && value.chars().all(|c| c.is_ascii_graphic()));
        if let Some(word) = word {
            _ = write!(line, " {key}={word}");
        }
    }
    line.push('\n');
    line
}

/// Appends an event's line. The first frame of a stack needs one of its own before it.
fn print(event: &Event, threads: &Threads, line: &mut String) {
    match event.kind {
        EventKind::Lost { count, .. } => {
            match count {
                Some(count) => _ = writeln!(line, "CPU:{} [LOST {count} EVENTS]", event.cpu),
                None => _ = writeln!(line, "CPU:{} [LOST EVENTS]", event.cpu),
            }
            return;
        }
        EventKind::StackFrame { name } => {
            _ = writeln!(line, " => {name}");
            return;
        }
        _ => {}
    }
    head(event, threads, line);
    fields::print(event, threads, line);
    while line.ends_with(' ') {
        line.pop();
    }
    line.push('\n');
}

/// `          rtload-312   [001] d..2.  1999.123456789: `
fn head(event: &Event, threads: &Threads, line: &mut String) {
    let tid = event.context.tid;
    let comm = threads.comm(tid);
    let comm = if comm.is_empty() { "<...>".to_owned() } else { one_line(comm.as_str()) };
    let (seconds, fraction) = (event.ts.0.div_euclid(1_000_000_000), event.ts.0.rem_euclid(1_000_000_000));
    // Writing to a string does not fail.
    _ = write!(line, "{comm:>16}-{:<7} [{:03}] ", tid.0, event.cpu.0);
    if let Some(column) = interrupt_state(event) {
        _ = write!(line, "{column} ");
    }
    _ = write!(line, "{seconds:>6}.{fraction:09}: ");
}

/// irqs-off, need-resched, handler, preempt-depth, migrate-disable; none where the source had no such column.
fn interrupt_state(event: &Event) -> Option<String> {
    let flags = event.context.flags;
    let depth = match event.context.preempt_depth {
        Some(0) => '.',
        Some(depth) => char::from_digit(u32::from(depth & 0xf), 16).unwrap_or('.'),
        None if flags.contains(ContextFlags::IRQS_UNKNOWN) => return None,
        None => '.',
    };
    Some(format!("{flags}{depth}."))
}
