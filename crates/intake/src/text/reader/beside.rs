//! Lines beside rows: headers without `#`, and what a text without events is.

use super::Reader;
use crate::text::further::FurtherRecording;
use crate::text::header::Header;
use crate::text::kernel_log;
use crate::text::tables::{self, OtherLine};
use whylate_events::Damage;

impl Reader {
    /// A header's line without `#`. Below the events there is none but that of a further trace.
    pub(super) fn bare_header(&mut self, text: &str) -> bool {
        if self.header.latency_traces == 0 && Header::is_old_title(text) {
            self.begin_again();
        }
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

    /// The rows so far are those of another trace, whose header is above the text: its times are its own.
    fn begin_again(&mut self) {
        let read = self.collected.read;
        let Some(begun) = self.collected.begun_again().filter(|_| self.collected.last.is_some()) else {
            return;
        };
        self.collected = begun;
        self.further = FurtherRecording::default();
        (self.frames, self.ended) = (None, None);
        let what = format!(
            "{read} rows above this header are of another trace, whose header is missing, and are left out"
        );
        self.above_header = Some(Damage::at(self.number, what).detail());
    }

    /// A line may show what the text is, where it has no event.
    pub(super) fn is_shown(&mut self, number: u64, text: &str) {
        let line = OtherLine { number, text, logged: &self.stamps.restored(number, text) };
        self.hz = self.hz.or_else(|| kernel_log::hz_of_boot(text));
        match &mut self.other {
            other if self.collected.last.is_some() => tables::beside_rows(other, line),
            None => self.other = tables::named(line),
            Some(other) => other.followed_by(line),
        }
    }
    /// A line of a table that is no part of the trace.
    pub(super) fn beside(&mut self, text: &str) {
        self.is_shown(self.number, text);
        self.further.remark(self.number);
        self.collected.pieces.remark(self.number, text);
    }
}
