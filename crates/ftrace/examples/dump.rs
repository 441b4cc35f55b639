//! Prints a trace.dat, one event per line: `cargo run --example dump -- trace.dat`.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use whylate_events::{EventSource, KindSet};
use whylate_ftrace::dat::{RawEvent, TraceFile};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (typed, path) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [path] => (false, path),
        ["--typed", path] => (true, path),
        _ => {
            eprintln!("usage: dump [--typed] TRACE.DAT");
            return ExitCode::from(2);
        }
    };
    let result = TraceFile::open(path).map_err(|error| error.to_string()).and_then(|file| {
        let written = if typed { dump_typed(&file) } else { dump_raw(&file) };
        written.map_err(|error| format!("failed to write: {error}"))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dump: {message}");
            ExitCode::from(2)
        }
    }
}

fn dump_typed(file: &TraceFile) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut events = file.events(KindSet::ALL);
    while let Some(event) = events.next_event() {
        let (ts, cpu, who) = (event.ts.0, event.cpu, event.context);
        writeln!(out, "{ts} [{cpu:03}] {} {} {:?}", who.tid, who.flags, event.kind)?;
    }
    out.flush()?;
    eprintln!("{:#?}", events.info());
    Ok(())
}

fn dump_raw(file: &TraceFile) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut events = file.raw_events();
    while let Some(event) = events.next() {
        let (tid, cpu, ts) = (event.context.tid, event.cpu, event.ts.0);
        let comm = file.comm(tid).unwrap_or("<...>");
        let name = event.format.map_or("?", |format| format.name.as_str());
        write!(out, "{comm}-{tid} [{cpu:03}] {}.{:09}: {name}:", ts / 1_000_000_000, ts % 1_000_000_000)?;
        write_fields(&mut out, &event)?;
        writeln!(out)?;
    }
    out.flush()
}

fn write_fields(out: &mut impl Write, event: &RawEvent<'_>) -> io::Result<()> {
    for field in event.format.iter().flat_map(|format| format.own_fields()) {
        let name = &field.name;
        match event.int(name) {
            Some(value) if field.signed || field.size < 8 => write!(out, " {name}={value}")?,
            Some(value) => write!(out, " {name}={:#x}", value as u64)?,
            None if field.type_name.starts_with("char") => {
                let text = String::from_utf8_lossy(event.text(name).unwrap_or_default());
                write!(out, " {name}={}", text.trim_end())?;
            }
            None => write!(out, " {name}={:02x?}", event.bytes(name).unwrap_or_default())?,
        }
    }
    Ok(())
}
