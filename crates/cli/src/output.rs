//! Standard output and standard error.

/// Writes a line to standard error, as `eprintln!` does, and ignores errors: a terminal that was closed must not cost
/// the report.
macro_rules! message {
    ($($words:tt)*) => { $crate::output::complain(format_args!($($words)*)) };
}
pub(crate) use message;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use whylate_report::Style;

/// What [`message`] does. A message may quote a file, whose escape sequences must not reach the terminal.
pub(crate) fn complain(message: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", whylate_base::printable_lines(&message.to_string()));
}

/// How standard output is to be written: colours on a terminal only, and not where `NO_COLOR` is set
/// (no-color.org).
pub(crate) fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = match terminal {
        true => rustix::termios::tcgetwinsize(io::stdout())
            .map_or(100, |size| usize::from(size.ws_col))
            .clamp(60, 120),
        false => Style::default().width,
    };
    Style { color: terminal && !no_color, width }
}

/// The result of writing to standard output. A reader that closed the pipe wants no more: `whylate explain FILE | head`
/// has the exit code of what was found.
pub(crate) fn printed(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes a JSON document to standard output.
pub(crate) fn print_json(document: &Value) -> Result<()> {
    // Standard output alone writes out each line.
    let mut out = io::BufWriter::new(io::stdout().lock());
    let document = serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from);
    printed(document.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()))
}

/// Refuses to write over the trace that is read, under whatever name: there is often no other copy of it.
/// `-` is what standard input comes from.
pub(crate) fn spare(input: &Path, output: &Path) -> Result<()> {
    let trace = match input.as_os_str() == "-" {
        true => rustix::fs::fstat(io::stdin()),
        false => rustix::fs::stat(input),
    };
    let same = |a: rustix::fs::Stat, b: rustix::fs::Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
    if trace.is_ok_and(|trace| rustix::fs::stat(output).is_ok_and(|there| same(trace, there))) {
        bail!("cannot write {}: it is the trace that is to be read; give another name", output.display());
    }
    Ok(())
}
