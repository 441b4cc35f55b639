//! The times that the kernel's log has before its messages, of the lines that were read last: what a line means as a row does not depend
//! on them.

use std::borrow::Cow;
use std::collections::VecDeque;

/// No more lines are held back.
const MOST: usize = 16;

/// The last lines that have a time before them, and these times.
#[derive(Debug, Default)]
pub(super) struct LineStamps {
    last: VecDeque<(u64, String)>,
}

impl LineStamps {
    /// Keeps the time that stands before a line.
    pub(super) fn keep(&mut self, number: u64, stamp: &str) {
        if self.last.len() >= MOST {
            self.last.pop_front();
        }
        self.last.push_back((number, stamp.to_owned()));
    }

    /// The line as the kernel's log has it.
    pub(super) fn restored<'a>(&self, number: u64, text: &'a str) -> Cow<'a, str> {
        match self.last.iter().rfind(|(of, _)| *of == number) {
            Some((_, stamp)) => Cow::Owned(format!("[{stamp}] {text}")),
            None => Cow::Borrowed(text),
        }
    }
}
