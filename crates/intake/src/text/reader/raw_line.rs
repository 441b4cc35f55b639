//! A line of the text as it stands in the file, which may hold several lines of the trace.

use super::super::header;
use super::super::line;
use super::Reader;
use crate::pasted;

impl Reader {
    /// Takes a line in.
    pub(crate) fn line(&mut self, raw: &str, is_cut: bool) {
        self.lines += 1;
        match pasted::lines_of_string(raw, is_of_trace) {
            None => self.one_line(raw, is_cut),
            Some(lines) => {
                let last = lines.len().saturating_sub(1);
                let each = lines.iter().enumerate();
                each.for_each(|(at, line)| self.one_line(line, is_cut && at == last));
            }
        }
    }

    fn one_line(&mut self, raw: &str, is_cut: bool) {
        let printed = pasted::printed(raw);
        if self.collected.last.is_none()
            && let Some(header) = header::put_into_one(&printed.text)
        {
            self.has_lost_breaks = true;
            if !printed.text.starts_with('#') {
                return self.header.comment(header);
            }
        }
        let bare = pasted::without_foreign_mark(printed.text.as_ref());
        self.printed_line(self.lines, line::without_index(bare), printed.columns, is_cut);
    }
}

/// True of a line that shows that the string it stands in holds a trace.
fn is_of_trace(line: &str) -> bool {
    line::split(pasted::printed(line).text.as_ref()).is_some()
}
