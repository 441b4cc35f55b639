//! The records of a perf.data one after the other, those in compressed records among them.
//!
//! ```text
//! record = kind u32 | misc u16 | size u16, its own included | body
//! ```
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`, `tools/lib/perf/include/perf/event.h`.

use super::inflate::Inflater;
use super::record_header::{kind, plausible};
use super::sample::HEADER;
use crate::seekable::{ReadAt, read_full};
use std::ops::Range;
use std::sync::Arc;
use whylate_events::Damage;
use whylate_ftrace::bytes::Endian;

/// A record's size is 16 bits wide.
const LARGEST_RECORD: usize = 0xffff;
/// Read from the file at a time.
const WINDOW: usize = 256 << 10;
/// After damage, so many records in a row must make sense.
const IN_A_ROW: usize = 4;
/// How far the next record is looked for.
const FARTHEST: u64 = 64 << 20;
/// Descriptions behind a record that claim more are damaged.
const LARGEST_DESCRIPTION: u64 = 256 << 20;

/// One record; its bytes are in [`Records::bytes`].
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) kind: u32,
    /// Where in the file it is, or the compressed record it came out of.
    pub(super) at: u64,
    bytes: Range<usize>,
    inflated: bool,
}

pub(super) struct Records {
    source: Arc<dyn ReadAt>,
    pub(super) endian: Endian,
    /// Where in the file the next record begins.
    at: u64,
    end: u64,
    window: Vec<u8>,
    window_at: u64,
    inflater: Inflater,
    /// Records are 8-byte aligned, but for what follows a compressed one.
    step: u64,
    pub(super) damage: Vec<Damage>,
    /// Damage beyond what is worth listing.
    pub(super) unlisted: u64,
    /// How often records were skipped: events of any CPU may have been among them.
    pub(super) gaps: u64,
}

const MOST_DAMAGE: usize = 100;

impl Records {
    pub(super) fn new(source: Arc<dyn ReadAt>, endian: Endian, place: Range<u64>) -> Records {
        let end = place.end.min(source.size());
        Records {
            source,
            endian,
            at: place.start,
            end,
            window: Vec::new(),
            window_at: 0,
            inflater: Inflater::default(),
            step: 8,
            damage: Vec::new(),
            unlisted: 0,
            gaps: 0,
        }
    }

    /// The record's bytes, its header first; until the next call of [`next`](Self::next).
    pub(super) fn bytes(&self, record: &Record) -> &[u8] {
        let buffer = if record.inflated { self.inflater.bytes() } else { &self.window };
        buffer.get(record.bytes.clone()).unwrap_or_default()
    }

    pub(super) fn note(&mut self, at: u64, what: impl Into<String>) {
        self.list(Damage::at(at, what));
    }

    fn list(&mut self, damage: Damage) {
        if self.damage.len() < MOST_DAMAGE {
            self.damage.push(damage);
        } else {
            self.unlisted += 1;
        }
    }

    /// True when compressed records were met.
    pub(super) fn compressed(&self) -> bool {
        self.inflater.used()
    }

    /// The next record, or `None` at the end.
    pub(super) fn next(&mut self) -> Option<Record> {
        loop {
            if let Some(record) = self.next_inflated() {
                return Some(record);
            }
            if self.at + HEADER as u64 > self.end {
                if self.at < self.end {
                    self.note(self.at, "the recording ends inside a record's header");
                    self.at = self.end;
                }
                return None;
            }
            let at = self.at;
            let Some((kind, size)) = self.header(at) else {
                self.resynchronise(at);
                continue;
            };
            if at + size as u64 > self.end {
                self.note(at, "the recording ends inside a record: it is skipped");
                self.at = self.end;
                return None;
            }
            self.at = at + size as u64;
            let start = (at - self.window_at) as usize;
            let bytes = start..start + size;
            let Some(body) = self.window.get(bytes.clone()) else { continue };
            match kind {
                kind::COMPRESSED | kind::COMPRESSED2 => {
                    self.step = 1;
                    if let Err(what) = self.inflater.feed(self.endian, kind, body) {
                        self.gaps += 1;
                        self.note(at, format!("{what}: what was compressed from here on is lost"));
                    }
                    self.inflater.file_offset = at;
                }
                kind::AUXTRACE => {
                    // Hardware traces follow their record, which has their size.
                    let size = self.endian.u64(body, HEADER).unwrap_or(0);
                    self.at = self.at.saturating_add(size).min(self.end);
                }
                _ => return Some(Record { kind, at, bytes, inflated: false }),
            }
        }
    }

    fn next_inflated(&mut self) -> Option<Record> {
        let at = self.inflater.file_offset;
        match self.inflater.next(self.endian) {
            Ok(Some((kind, bytes))) => Some(Record { kind, at, bytes, inflated: true }),
            Ok(None) => None,
            Err(what) => {
                self.gaps += 1;
                self.note(at, format!("{what}: what was compressed from here on is lost"));
                None
            }
        }
    }

    /// Bytes that belong to a record and lie behind it in the file: the formats of pipe mode.
    pub(super) fn behind(&mut self, record: &Record) -> Option<Vec<u8>> {
        let size = self.endian.u32(self.bytes(record), HEADER)?;
        let size = u64::from(size).min(self.end.saturating_sub(self.at));
        if record.inflated || size > LARGEST_DESCRIPTION {
            return None;
        }
        let mut bytes = vec![0; size as usize];
        let read = read_full(&*self.source, &mut bytes, self.at).ok()?;
        bytes.truncate(read);
        // Padded by its own size, wherever it lies.
        self.at = (self.at + size.next_multiple_of(8)).min(self.end);
        Some(bytes)
    }

    /// Kind and size of the record at an offset; `None` where there is none that makes sense.
    fn header(&mut self, at: u64) -> Option<(u32, usize)> {
        self.fill(at);
        let start = usize::try_from(at.checked_sub(self.window_at)?).ok()?;
        plausible(self.endian, self.window.get(start..)?)
    }

    /// Sees to it that the window has the whole record at `at`.
    fn fill(&mut self, at: u64) {
        let window_end = self.window_at + self.window.len() as u64;
        let needed = (at + LARGEST_RECORD as u64).min(self.end);
        if at >= self.window_at && needed <= window_end {
            return;
        }
        let size = usize::try_from(self.end.saturating_sub(at)).unwrap_or(WINDOW).min(WINDOW);
        self.window.resize(size, 0);
        self.window_at = at;
        let read = read_full(&*self.source, &mut self.window, at).unwrap_or_else(|error| {
            self.note(at, format!("failed to read: {error}: the rest is lost"));
            0
        });
        self.window.truncate(read);
        if read < size {
            self.end = at + read as u64;
        }
    }

    /// Looks for the next records behind a place that makes no sense.
    fn resynchronise(&mut self, from: u64) {
        self.gaps += 1;
        let until = self.end.min(from.saturating_add(FARTHEST));
        let mut at = from + self.step;
        while at < until {
            if self.chain(at) {
                let skipped = at - from;
                let what = format!("no record: {skipped} bytes are skipped, to where records go on");
                self.list(Damage::at(from, what).unread(skipped));
                self.at = at;
                return;
            }
            at += self.step;
        }
        let rest = self.end.saturating_sub(from);
        self.list(Damage::at(from, "no record, nor one behind it: the rest is lost").unread(rest));
        self.at = self.end;
    }

    /// True when several records in a row begin at `at`, as far as the window reaches: to read on
    /// for every guess would take forever.
    fn chain(&mut self, mut at: u64) -> bool {
        self.fill(at);
        for found in 0..IN_A_ROW {
            if at == self.end {
                return true;
            }
            let start = usize::try_from(at.saturating_sub(self.window_at)).unwrap_or(usize::MAX);
            match self.window.get(start..).filter(|rest| rest.len() >= HEADER) {
                None => return found > 0 && at < self.end,
                Some(rest) => match plausible(self.endian, rest) {
                    Some((_, size)) => at += size as u64,
                    None => return false,
                },
            }
        }
        true
    }
}
