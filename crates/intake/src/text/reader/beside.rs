//! Lines beside rows: headers without `#`, and what a text without events is.

use super::Reader;
use crate::text::header::Header;
use crate::text::tables;

impl Reader {
    /// A header's line without `#`. Below the events there is none but that of a further trace.
    pub(super) fn bare_header(&mut self, text: &str) -> bool {
        if self.collected.last.is_some() {
            let begins = self.header.latency_traces > 0 && Header::is_bare_title(text);
            if begins {
                self.further.latency_trace(self.number);
            }
            return (begins || self.further.begins().is_some()) && self.header.bare_line(text);
        }
        let is_header = self.header.bare_line(text);
        if is_header {
            self.is_shown(self.number, text);
        }
        is_header
    }

    /// A line may show what the text is, where it has no event.
    pub(super) fn is_shown(&mut self, number: u64, text: &str) {
        match &mut self.other {
            other if self.collected.last.is_some() => tables::beside_rows(other, number, text),
            None => self.other = tables::named(number, text),
            Some(other) => other.followed_by(number, text),
        }
    }
}
