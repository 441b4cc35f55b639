//! What a load's process writes to the process that started it.

use std::io::{self, Write};

/// The first line of a load's process that is at work; any other line is the reason why it is not.
pub(super) const READY: &str = "ready";

/// Writes a line to the parent process. Where the parent is gone, standard input shows it.
pub(super) fn line(line: &str) {
    let mut out = io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
