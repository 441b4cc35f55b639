//! Results go to standard output, progress to standard error.

/// Writes a line to standard error, as `eprintln!` does; a closed terminal does not end the run.
macro_rules! message {
    ($($words:tt)*) => { $crate::output::complain(format_args!($($words)*)) };
}
pub(crate) use message;

use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use whylate_report::Style;

/// What [`message`] does. A message may quote a file, whose escape sequences must not reach the terminal.
pub(crate) fn complain(message: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", whylate_base::printable_lines(&message.to_string()));
}

/// Colours on a terminal only, and not where `NO_COLOR` is set (no-color.org).
pub(crate) fn style() -> Style {
    let usual = Style::default();
    if !io::stdout().is_terminal() {
        return usual;
    }
    let width =
        rustix::termios::tcgetwinsize(io::stdout()).map_or(usual.width, |size| usize::from(size.ws_col));
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style { color: !no_color, width: width.clamp(60, 120) }
}

/// Writes text to standard output. A reader that closed the pipe wants no more: `whylate-lab run --json | head` has the
/// exit code of its runs.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes a JSON document to standard output.
pub(crate) fn print_json(document: &Value) -> Result<()> {
    print(&format!("{document:#}\n"))
}
