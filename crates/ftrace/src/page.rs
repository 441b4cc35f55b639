//! Ring-buffer pages: the kernel's own binary form of a CPU's events.
//!
//! ```text
//! page   = timestamp u64 | commit long | events ... commit bytes of them | count of lost events
//! event  = type_len:5 time_delta:27 | array ...
//!          type_len  0      data, its length in array[0]
//!                    1..28  data of type_len words
//!                    29     padding: with a delta a discarded event, without one the rest of the page
//!                    30     time extend: array[0] is the delta's upper bits
//!                    31     absolute timestamp, in the same 59 bits
//! ```
//! Source: `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c`, `events/header_event`.

use crate::bytes::Endian;
use crate::format::HeaderPage;
use std::ops::Range;

/// In `commit`: events were lost before this page (`RB_MISSED_EVENTS`).
const MISSED_EVENTS: u64 = 1 << 31;
/// In `commit`: their count stands after the data (`RB_MISSED_STORED`).
const MISSED_STORED: u64 = 1 << 30;
/// In `commit`: the length of the data.
const COMMIT_LENGTH: u64 = (1 << 27) - 1;
/// Bits of a delta in the event's own word (`TS_SHIFT`).
const DELTA_BITS: u32 = 27;
/// An absolute timestamp has 59 bits; the rest come from the time before it (`TS_MSB`).
const ABSOLUTE_BITS: u32 = 59;

/// How the traced machine lays out its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// Byte order.
    pub endian: Endian,
    /// The kernel's `long`: 4 or 8 bytes.
    pub long_size: usize,
    /// Where the events begin.
    pub data_offset: usize,
}

impl PageLayout {
    /// The layout every kernel so far has with longs of that size, 4 or 8 bytes.
    pub fn of_long_size(endian: Endian, long_size: usize) -> PageLayout {
        PageLayout { endian, long_size, data_offset: 8 + long_size }
    }

    /// The layout that `events/header_page` describes.
    pub fn of_header(endian: Endian, header: &HeaderPage) -> PageLayout {
        PageLayout { endian, long_size: header.commit_size, data_offset: header.data_offset }
    }

    /// When the page's first event happened; `None` when not even that is there.
    pub fn timestamp(&self, page: &[u8]) -> Option<u64> {
        self.endian.u64(page, 0)
    }

    /// Opens a page; `None` when its header is cut.
    pub fn open(&self, page: &[u8]) -> Option<PageCursor> {
        let timestamp = self.timestamp(page)?;
        let commit = self.endian.long(page, 8, self.long_size)?;
        let end = self.data_offset + (commit & COMMIT_LENGTH) as usize;
        let lost = match (commit & MISSED_EVENTS != 0, commit & MISSED_STORED != 0) {
            (false, _) => None,
            (true, false) => Some(LostBefore { count: None }),
            (true, true) => Some(LostBefore { count: self.endian.long(page, end, self.long_size) }),
        };
        let damage =
            (end > page.len()).then_some(PageDamage { at: 8, what: "the page claims more data than it has" });
        Some(PageCursor {
            endian: self.endian,
            timestamp,
            position: self.data_offset.min(page.len()),
            end: end.min(page.len()),
            lost,
            damage,
        })
    }
}

/// Events that the kernel lost before a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostBefore {
    /// How many, where there was room in the page for the number.
    pub count: Option<u64>,
}

/// One record: an event's bytes with the time it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// On the trace clock, in its own unit.
    pub timestamp: u64,
    /// Where in the page its bytes are, rounded up to whole words.
    pub bytes: Range<usize>,
}

/// A place in a page that makes no sense; the rest of the page cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageDamage {
    /// Byte in the page.
    pub at: usize,
    /// What was wrong.
    pub what: &'static str,
}

/// Walks the records of one page. The page itself is handed in at each step, so that a
/// cursor can live beside the buffer that it reads.
#[derive(Clone, Debug)]
pub struct PageCursor {
    endian: Endian,
    timestamp: u64,
    position: usize,
    end: usize,
    lost: Option<LostBefore>,
    damage: Option<PageDamage>,
}

impl PageCursor {
    /// Events lost before this page.
    pub fn lost(&self) -> Option<LostBefore> {
        self.lost
    }

    /// Why reading stopped before the end of the page; known once [`next`](Self::next) gave `None`.
    pub fn damage(&self) -> Option<PageDamage> {
        self.damage
    }

    /// The time of the last record, or of the page before the first.
    pub fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// True when there is nothing (more) to read.
    pub fn is_empty(&self) -> bool {
        self.position >= self.end
    }

    /// Moves the times of the records to come, where the clock they were taken by had been set back.
    pub(crate) fn shift(&mut self, later: u64) {
        self.timestamp = self.timestamp.saturating_add(later);
    }

    /// The next record, or `None` at the end of the page or at damage.
    #[inline(always)]
    pub fn next(&mut self, page: &[u8]) -> Option<Record> {
        // Almost every record is of this form.
        if self.endian == Endian::Little
            && let Some(word) = Endian::Little.u32(page, self.position)
            && let length @ 1..=28 = word & 31
        {
            let start = self.position + 4;
            let end = start + length as usize * 4;
            if end <= self.end {
                self.timestamp = self.timestamp.wrapping_add(u64::from(word >> 5));
                self.position = end;
                return Some(Record { timestamp: self.timestamp, bytes: start..end });
            }
        }
        self.next_of_any(page)
    }

    #[inline(never)]
    fn next_of_any(&mut self, page: &[u8]) -> Option<Record> {
        while self.position < self.end {
            let at = self.position;
            let Some(word) = self.endian.u32(page, at) else {
                return self.broken(at, "the page ends inside an event's header");
            };
            let (type_len, delta) = match self.endian {
                Endian::Little => (word & 31, u64::from(word >> 5)),
                Endian::Big => (word >> DELTA_BITS, u64::from(word & ((1 << DELTA_BITS) - 1))),
            };
            let body = at + 4;
            if let 1..=28 = type_len {
                return self.record(body, type_len as usize * 4, delta);
            }
            let Some(first) = self.endian.u32(page, body) else {
                if type_len == 29 && delta == 0 {
                    break; // nothing but the padding's own header fits: no array follows
                }
                return self.broken(at, "the page ends inside an event's header");
            };
            let extended = u64::from(first) << DELTA_BITS | delta;
            match type_len {
                0 => {
                    let length = (first as usize).wrapping_sub(4);
                    if first < 4 {
                        return self.broken(at, "an event's length is shorter than its own word");
                    }
                    return self.record(body + 4, length.next_multiple_of(4), delta);
                }
                29 if delta == 0 => break,
                29 => {
                    self.timestamp = self.timestamp.wrapping_add(delta);
                    self.position = body.saturating_add(first as usize).max(body);
                    if self.position > self.end {
                        return self.broken(at, "a discarded event is longer than the page");
                    }
                }
                30 => {
                    self.timestamp = self.timestamp.wrapping_add(extended);
                    self.position = body + 4;
                }
                _ => {
                    self.timestamp = absolute(extended, self.timestamp);
                    self.position = body + 4;
                }
            }
        }
        self.position = self.end;
        None
    }

    fn record(&mut self, start: usize, length: usize, delta: u64) -> Option<Record> {
        let end = start.saturating_add(length);
        if end > self.end {
            return self.broken(start - 4, "an event is longer than the page");
        }
        self.timestamp = self.timestamp.wrapping_add(delta);
        self.position = end;
        Some(Record { timestamp: self.timestamp, bytes: start..end })
    }

    #[cold]
    fn broken(&mut self, at: usize, what: &'static str) -> Option<Record> {
        // A page that is shorter than it claims ends somewhere inside an event: that is one damage.
        self.damage = self.damage.or(Some(PageDamage { at, what }));
        self.position = self.end;
        None
    }
}

/// The full time of an absolute timestamp that follows `before` (`rb_fix_abs_ts`).
fn absolute(stamp: u64, before: u64) -> u64 {
    let upper = before >> ABSOLUTE_BITS << ABSOLUTE_BITS;
    let full = stamp | upper;
    match upper != 0 && full < before {
        true => full.wrapping_add(1 << ABSOLUTE_BITS),
        false => full,
    }
}
