//! Lines in comments, kept as long as no other line is an event: notes and scripts quote a trace so.
//!
//! ```text
//! # redis-server-1234 [001] 12345.152000: sched_switch: prev_comm=...
//! ```

use crate::pasted::uncommented_line;

/// So many bytes of them are kept.
const MOST: usize = 4 << 20;

/// The lines, with their numbers, without their marks, and how long they were with these.
#[derive(Default)]
pub(super) struct Commented {
    lines: Vec<(u64, String, usize)>,
    bytes: usize,
}

impl Commented {
    /// Keeps a line that begins with a mark.
    pub(super) fn keep(&mut self, number: u64, line: &str) {
        let text = uncommented_line(line).unwrap_or(line).trim();
        self.bytes += text.len();
        if self.bytes <= MOST && !text.is_empty() {
            self.lines.push((number, text.to_owned(), line.len()));
        }
    }

    pub(super) fn take(&mut self) -> Vec<(u64, String, usize)> {
        std::mem::take(&mut self.lines)
    }
}
