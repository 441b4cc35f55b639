//! Lines of a stream of any size, one at a time and in bounded memory.

use crate::pasted;
use memchr::memchr;
use std::borrow::Cow;
use std::io::{self, Read};

/// Longer lines are cut. The kernel prints a line into a buffer of 8 KiB (`TRACE_SEQ_BUFFER_SIZE`), so only
/// what is no trace has longer ones.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;

/// How much is held at a time.
const BUFFER: usize = 2 * LONGEST_LINE;

/// The lines of `start` and of what follows it.
pub(crate) struct Lines<R> {
    rest: R,
    buffer: Vec<u8>,
    /// What of the buffer was handed out, and how far it is filled.
    at: usize,
    filled: usize,
    has_ended: bool,
    is_skipping: bool,
}

/// One line, without its end.
pub(crate) struct Line<'a> {
    /// What is no UTF-8 is replaced, and blanks of all kinds are ordinary ones.
    pub(crate) text: Cow<'a, str>,
    /// The rest of it was left out.
    pub(crate) is_cut: bool,
    /// False where bytes were replaced.
    pub(crate) is_utf8: bool,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(start: Vec<u8>, rest: R) -> Self {
        let filled = start.len();
        let mut buffer = start;
        buffer.resize(filled.max(BUFFER), 0);
        Lines { rest, buffer, at: 0, filled, has_ended: false, is_skipping: false }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<io::Result<Line<'_>>> {
        let (length, is_whole) = match self.find() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let start = self.at;
        self.at += length;
        let is_cut = !is_whole && length == LONGEST_LINE;
        self.is_skipping = is_cut;
        self.at += usize::from(is_whole);
        let bytes = self.buffer.get(start..start + length)?;
        let (text, is_utf8) = pasted::decoded(bytes);
        Some(Ok(Line { text, is_cut, is_utf8 }))
    }

    /// How long the next line is, and whether its end was found.
    fn find(&mut self) -> io::Result<Option<(usize, bool)>> {
        self.skip()?;
        let mut searched = 0;
        loop {
            let held = self.buffer.get(self.at..self.filled).unwrap_or_default();
            let longest = held.get(..LONGEST_LINE + 1).unwrap_or(held);
            if let Some(end) = memchr(b'\n', longest.get(searched..).unwrap_or_default()) {
                return Ok(Some((searched + end, true)));
            }
            if held.len() > LONGEST_LINE {
                return Ok(Some((LONGEST_LINE, false)));
            }
            if self.has_ended {
                return Ok((!held.is_empty()).then_some((held.len(), false)));
            }
            searched = held.len();
            self.fill()?;
        }
    }

    /// Skips the end of a line of which the beginning was handed out.
    fn skip(&mut self) -> io::Result<()> {
        while self.is_skipping {
            let held = self.buffer.get(self.at..self.filled).unwrap_or_default();
            let end = memchr(b'\n', held);
            self.at = end.map_or(self.filled, |end| self.at + end + 1);
            self.is_skipping = end.is_none() && !self.has_ended;
            if self.is_skipping {
                self.fill()?;
            }
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
        match self.rest.read(free) {
            Ok(0) => self.has_ended = true,
            Ok(read) => self.filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(String, bool)> {
        let (start, rest) = text.split_at(text.len() / 2);
        let mut lines = Lines::new(start.to_vec(), rest);
        std::iter::from_fn(|| {
            let line = lines.next()?.expect("memory reads");
            Some((line.text.into_owned(), line.is_cut))
        })
        .collect()
    }

    #[test]
    fn lines_end_at_newlines_and_at_the_longest_length() {
        assert_eq!(all(b""), []);
        assert_eq!(
            all("one\n\n tw\u{a0}o".as_bytes()),
            [("one".into(), false), (String::new(), false), (" tw o".into(), false)]
        );
        let long = "x".repeat(9 * LONGEST_LINE);
        let lines = all(format!("{long}\nshort\n{long}").as_bytes());
        let lengths: Vec<_> = lines.iter().map(|(line, is_cut)| (line.len(), *is_cut)).collect();
        assert_eq!(lengths, [(LONGEST_LINE, true), (5, false), (LONGEST_LINE, true)]);
    }

    #[test]
    fn an_error_of_the_reader_is_handed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("unplugged"))
            }
        }
        let mut lines = Lines::new(b"one\ntwo".to_vec(), Broken);
        assert!(lines.next().is_some_and(|line| line.is_ok()));
        assert!(lines.next().is_some_and(|line| line.is_err()));
    }
}
