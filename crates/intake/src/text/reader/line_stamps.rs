//! The times that the kernel's log has before its messages, of the lines that were read last: what a line means as a row does not depend
//! on them.

use std::borrow::Cow;
use std::collections::VecDeque;

/// No more lines are held back.
const MOST: usize = 16;

/// With fewer lines of the kernel's log a text is no such log, nor where they are a smaller part of it.
const FEWEST: u64 = 10;
const LEAST_PART: u64 = 4;

/// The last lines that have a time before them, and these times.
#[derive(Debug, Default)]
pub(super) struct LineStamps {
    /// Each with the machine whose logger put it there, where it is the kernel's line.
    last: VecDeque<(u64, String, Option<String>)>,
    /// So many lines have a time as only the kernel's log prints it.
    of_kernel: u64,
}

impl LineStamps {
    /// Keeps the time that stands before a line.
    pub(super) fn keep(&mut self, number: u64, stamp: String, host: Option<String>) {
        // Loggers print the time of day alone.
        self.of_kernel += u64::from(!stamp.contains(':') || stamp.contains(' '));
        if self.last.len() >= MOST {
            self.last.pop_front();
        }
        self.last.push_back((number, stamp, host));
    }

    /// True where the text, of so many lines, is one of the kernel's log.
    pub(super) fn are_of_log(&self, lines: u64) -> bool {
        self.of_kernel >= FEWEST && self.of_kernel.saturating_mul(LEAST_PART) >= lines
    }

    /// True of a line with a time of its own: it is not the rest of the line above it.
    pub(super) fn has(&self, number: u64) -> bool {
        self.last.iter().any(|(of, ..)| *of == number)
    }

    /// The line as the kernel's log has it.
    pub(super) fn restored<'a>(&self, number: u64, text: &'a str) -> Cow<'a, str> {
        match self.last.iter().rfind(|(of, ..)| *of == number) {
            Some((_, stamp, Some(host))) => Cow::Owned(format!("[{stamp}] {host} kernel: {text}")),
            Some((_, stamp, None)) => Cow::Owned(format!("[{stamp}] {text}")),
            None => Cow::Borrowed(text),
        }
    }
}
