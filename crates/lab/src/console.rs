//! What a guest's serial console shows.

use crate::guest::{CUT, DONE, READY};
use std::time::Instant;

/// At most this many bytes of a console are kept, and at least half of them.
const KEPT: usize = 4 << 20;

/// The number of console lines in the error for a guest that died.
pub(crate) const CONSOLE_LINES: usize = 25;

/// The start of a panic message (kernel/panic.c).
const PANIC: &str = "Kernel panic - ";

/// The progress of a guest, by its console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// When it was ready.
    pub(crate) ready: Option<Instant>,
    /// When its results were written.
    pub(crate) done: Option<Instant>,
    /// It requests a power cut.
    pub(crate) cut: Option<Cut>,
    /// When its kernel panicked.
    pub(crate) panicked: Option<Instant>,
}

/// A guest's request for a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The exit code of the step before.
    pub(crate) code: Option<i32>,
}

/// A console's text, line by line.
#[derive(Debug, Default)]
pub(crate) struct Console {
    lines: Vec<u8>,
    /// Where the line in progress starts.
    line_start: usize,
    mark: Mark,
}

impl Console {
    /// Adds new output.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.lines.push(*byte);
            if *byte == b'\n' {
                self.end_line();
            }
        }
        if self.lines.len() > KEPT {
            // Half at once: moving the rest for every few bytes would keep a CPU busy.
            let surplus = self.lines.len() - KEPT / 2;
            self.lines.drain(..surplus);
            self.line_start = self.line_start.saturating_sub(surplus);
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(self.lines.get(self.line_start..).unwrap_or_default());
        let now = Some(Instant::now());
        if self.mark.ready.is_none() && line.contains(READY) {
            self.mark.ready = now;
        } else if self.mark.done.is_none() && line.contains(DONE) {
            self.mark.done = now;
        } else if let Some((_, code)) = line.split_once(CUT) {
            self.mark.cut = Some(Cut { code: code.trim().parse().ok() });
        } else if self.mark.panicked.is_none() && line.contains(PANIC) {
            self.mark.panicked = now;
        }
        self.line_start = self.lines.len();
    }

    pub(crate) fn mark(&self) -> Mark {
        self.mark
    }

    /// Without the firmware's escape sequences and other control characters: a guest must not write to
    /// the terminal that its console is shown on.
    pub(crate) fn text(&self) -> String {
        plain(&String::from_utf8_lossy(&self.lines))
    }
}

/// The start of the messages before a panic (arch/x86/mm/fault.c, arch/x86/kernel/dumpstack.c).
const TROUBLE: [&str; 3] = ["BUG: ", "Oops: ", PANIC];

/// The last lines of a console; after a panic, those from the kernel's first error message on.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let mut all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if all.iter().any(|line| line.contains(PANIC)) {
        let is_trouble = |line: &&str| TROUBLE.iter().any(|trouble| line.contains(trouble));
        let first = all.iter().position(is_trouble).unwrap_or_default();
        // The lines before show what led to it.
        all = all.into_iter().skip(first.saturating_sub(3)).take(lines).collect();
    }
    match all.get(all.len().saturating_sub(lines)..) {
        Some([]) | None => "(nothing)".to_owned(),
        Some(last) => last.join("\n"),
    }
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // ECMA-48: ESC [ parameters, up to a letter; or ESC and one character.
            '\x1b' => {
                if chars.next() == Some('[') {
                    while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
                }
            }
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_seen_however_they_arrive() {
        let mut console = Console::default();
        console.add(b"\x1bc\x1b[?7l\x1b[2JBooting\r\nwhylate-guest: rea");
        assert_eq!(console.mark(), Mark::default());
        console.add(b"dy\r\nhello\r\n");
        assert!(console.mark().ready.is_some() && console.mark().done.is_none());
        console.add(format!("{DONE}\r\n").as_bytes());
        assert!(console.mark().done.is_some());
        assert_eq!(console.text(), format!("Booting\n{READY}\nhello\n{DONE}\n"));
        assert_eq!(tail(&console.text(), 2), format!("hello\n{DONE}"));
        assert_eq!(tail("\n", 2), "(nothing)");
        assert_eq!(plain("a\x07\u{9b}b\tc\x08\x1b]\n"), "ab\tc\n");
        console.add(b"[1.9] Kernel panic - not syncing: no init\r\n");
        assert!(console.mark().panicked.is_some());
        let panic = "a\nb\nc\nd\n[1.9] Kernel panic - not syncing: no init\n[1.9] Call Trace:\nx\ny\n";
        let oops =
            "a\nb\nBUG: unable to handle page fault\nOops: 0001\nRIP: 0010:x\nKernel panic - not syncing\n";
        assert_eq!(tail(oops, 5), "a\nb\nBUG: unable to handle page fault\nOops: 0001\nRIP: 0010:x");
        assert_eq!(tail(panic, 5), "b\nc\nd\n[1.9] Kernel panic - not syncing: no init\n[1.9] Call Trace:");
    }

    #[test]
    fn a_console_that_never_ends_is_cut_at_its_start() {
        let mut console = Console::default();
        for _ in 0..(KEPT / 4096 + 2) {
            console.add(&[b'x'; 4096]);
        }
        console.add(format!("\n{READY}\n").as_bytes());
        assert!(console.text().len() <= KEPT && console.text().ends_with(&format!("{READY}\n")));
        assert!(console.mark().ready.is_some());
    }
}
