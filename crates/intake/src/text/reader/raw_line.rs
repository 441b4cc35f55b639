//! A line of the text as it stands in the file, which may hold several lines of the trace.

use super::super::header;
use super::super::kernel_log;
use super::super::line;
use super::Reader;
use super::begun_string::BegunString;
use crate::pasted::{self, Literals};

/// No row is longer.
const LONGEST_STRING: usize = 8192;

impl Reader {
    /// Takes a line in.
    pub(crate) fn line(&mut self, raw: &str, is_cut: bool) {
        self.lines += 1;
        if let Some(found) = pasted::literals(raw) {
            return self.strings(&found, is_code(raw), is_cut);
        }
        self.end_of_string();
        match pasted::lines_of_string(raw, is_of_trace) {
            None => self.one_line(raw, is_cut),
            Some(lines) => {
                let last = lines.len().saturating_sub(1);
                let each = lines.iter().enumerate();
                each.for_each(|(at, line)| self.one_line(line, is_cut && at == last));
            }
        }
    }

    /// Takes in a line of a program's source that has strings only.
    fn strings(&mut self, found: &Literals<'_>, is_code: bool, is_cut: bool) {
        if !found.may_continue {
            self.end_of_string();
        }
        let last = found.texts.len().saturating_sub(1);
        for (at, text) in found.texts.iter().enumerate() {
            self.begun_string.text.push_str(text);
            self.begun_string.is_code |= is_code;
            let goes_on = at == last && found.may_go_on && self.begun_string.text.len() < LONGEST_STRING;
            if !goes_on {
                let begun = std::mem::take(&mut self.begun_string);
                self.string(&begun, is_cut && at == last);
            }
        }
    }

    /// The line is not the rest of the string above it.
    pub(super) fn end_of_string(&mut self) {
        if !self.begun_string.text.is_empty() {
            let begun = std::mem::take(&mut self.begun_string);
            self.string(&begun, false);
        }
    }

    fn string(&mut self, begun: &BegunString, is_cut: bool) {
        let mut lines = pasted::string_lines(&begun.text);
        // Behind the last line end.
        if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        // A program that looks for a message of the kernel, or prints it, has its words alone.
        let is_pattern = |line: &str| begun.is_code && kernel_log::is_bare_message(line);
        lines.iter().filter(|line| !is_pattern(line)).for_each(|line| self.one_line(line, is_cut));
    }

    fn one_line(&mut self, raw: &str, is_cut: bool) {
        let mut printed = pasted::printed(raw);
        if self.collected.last.is_none()
            && let Some(header) = header::put_into_one(&printed.text)
        {
            self.has_lost_breaks = true;
            if !printed.text.starts_with('#') {
                return self.header.comment(header);
            }
        }
        if let Some(stamp) = printed.stamp.take() {
            self.stamps.keep(self.lines, stamp, printed.host.take());
        }
        let bare = pasted::without_foreign_mark(printed.text.as_ref());
        self.printed_line(self.lines, line::without_index(bare), printed.columns, is_cut);
    }
}

/// True of a line with more than a string: `"...",`, `text = "..."`. A page puts words of code between back quotes.
fn is_code(raw: &str) -> bool {
    let line = raw.trim();
    !(line.starts_with('`') || line.starts_with(['"', '\'']) && line.ends_with(['"', '\'']))
}

/// True of a line that shows that the string it stands in holds a trace.
fn is_of_trace(line: &str) -> bool {
    line::split(pasted::printed(line).text.as_ref()).is_some()
}
