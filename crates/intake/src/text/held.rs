//! Lines that end too early, held back until the next one shows whether a mail program broke them.

use crate::pasted::{fits_a_break, fits_a_page, may_continue, may_continue_page};

/// A line is not broken more often.
const MOST: usize = 4;
/// The rest of a line that is whole without it is not longer than this: what is longer is prose.
const LONGEST_REST: usize = 40;

/// A line as it was met.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HeldLine {
    pub(crate) number: u64,
    pub(crate) text: String,
    /// See [`crate::pasted::Printed`].
    pub(crate) columns: usize,
    pub(crate) is_cut: bool,
}

/// Which lines may be held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayHold {
    /// None: they were held back, or are too long or too short.
    Nothing,
    /// Rows of events that lack fields.
    EarlyRows,
    /// All that end too early.
    All,
}

/// What a reader makes of a line by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One of its lines, with all of its fields.
    Whole,
    /// One of its lines, which ends too early.
    Early,
    /// None of its lines.
    Foreign,
}

/// The lines held back, and the last one that was not.
#[derive(Default)]
pub(crate) struct Held {
    lines: Vec<HeldLine>,
    last: HeldLine,
    /// So many characters have the lines that were broken in the midst of a word.
    width: Option<usize>,
}

impl Held {
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// What of a line of so many characters may be held back.
    pub(crate) fn may_hold(columns: usize) -> MayHold {
        match (fits_a_break(columns), fits_a_page(columns)) {
            (true, _) => MayHold::All,
            (_, true) => MayHold::EarlyRows,
            _ => MayHold::Nothing,
        }
    }

    /// Holds back the first line, of which the reader knows that it ends too early.
    pub(crate) fn begin(&mut self, line: HeldLine) {
        self.lines.push(line);
    }

    /// Holds a line back, if one of its length may have been broken.
    pub(crate) fn hold(&mut self, line: HeldLine) -> bool {
        let holds = self.lines.len() < MOST && fits_a_break(line.columns);
        if holds {
            self.lines.push(line);
        }
        holds
    }

    /// All that are held back, together with `rest`; `None` where that cannot be the rest of them.
    pub(crate) fn with(&self, rest: &str) -> Option<String> {
        let last =
            self.lines.last().filter(|last| may_continue_page(last.columns, rest) && !is_elision(rest))?;
        let is_comment = last.text.starts_with('#');
        (!is_comment || rest.len() <= LONGEST_REST).then_some(())?;
        let mut all: String = self.lines.iter().map(|line| format!("{} ", line.text)).collect();
        all.push_str(rest);
        Some(all)
    }

    /// The one line that is held back, together with `rest`, where the break is in the midst of a word.
    pub(crate) fn in_one_word(&self, rest: &str) -> Option<String> {
        match self.lines.as_slice() {
            [line] if may_continue_page(line.columns, rest) && !is_elision(rest) => {
                Some(format!("{}{rest}", line.text))
            }
            _ => None,
        }
    }

    /// True where the break is in the midst of a word, as those of other lines are, or in the midst of a number.
    pub(crate) fn breaks_word(&self, rest: &str) -> bool {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let last = self.lines.last();
        last.is_some_and(|line| {
            self.width == Some(line.columns)
                || is_digit(line.text.as_bytes().last()) && is_digit(rest.as_bytes().first())
        })
    }

    /// The line that is held back was broken in the midst of a word: so are others that are as long.
    pub(crate) fn broke_word(&mut self) {
        self.width = self.lines.last().map(|line| line.columns);
    }

    /// True of a line as long as those that were broken in the midst of a word.
    pub(crate) fn is_as_wide(&self, columns: usize) -> bool {
        self.width == Some(columns)
    }

    pub(crate) fn take(&mut self) -> Vec<HeldLine> {
        std::mem::take(&mut self.lines)
    }

    /// Notes a line that was not held back.
    pub(crate) fn passed(&mut self, text: &str, columns: usize) {
        self.last.columns = if fits_a_break(columns) { columns } else { 0 };
        if self.last.columns > 0 {
            self.last.text.clear();
            self.last.text.push_str(text);
        }
    }

    /// The last line that was not held back together with `rest`, where that may be the rest of it.
    pub(crate) fn last_with(&self, rest: &str) -> Option<String> {
        let continues =
            rest.len() <= LONGEST_REST && may_continue(self.last.columns, rest) && !is_elision(rest);
        continues.then(|| format!("{} {rest}", self.last.text))
    }
}

/// `[...]`, `...`, `<snip>`, `(omitted)`: lines were left out here.
fn is_elision(text: &str) -> bool {
    // `(13 0)`: two numbers that a line of 2004 to 2008 ends in.
    let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let is_pair = |inside: &str| inside.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b' ');
    if inside.is_some_and(|inside| inside.contains(' ') && is_pair(inside)) {
        return false;
    }
    // `[swapper/1:0]`: the thread that a message of the kernel ends in.
    let thread = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')?.rsplit_once(':'));
    if thread.is_some_and(|(_, tid)| !tid.is_empty() && tid.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    text.starts_with(['[', '.', '(', '*', '-', '\u{2026}'])
        || text.starts_with('<') && !text.starts_with("<-")
}
