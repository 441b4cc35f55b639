//! Packs records into ring-buffer pages, as the kernel would have written them.

use crate::page::LostBefore;
use std::io::{self, Write};

/// The page's own header: a time and the `commit` word, of a 64-bit kernel.
const HEADER: usize = 16;
/// Bits of a delta in a record's own word (`TS_SHIFT`, `kernel/trace/ring_buffer.c`).
const DELTA_BITS: u32 = 27;
/// The longest delta a time extend can hold.
const LONGEST_DELTA: u64 = (1 << 59) - 1;
/// A record up to this many words has its length in its own word (`RINGBUF_TYPE_DATA_TYPE_LEN_MAX`).
const SHORT_WORDS: usize = 28;
/// The type of a word pair that adds to the time.
const TIME_EXTEND: u32 = 30;
/// In `commit`: events were lost before this page (`RB_MISSED_EVENTS`).
const MISSED_EVENTS: u64 = 1 << 31;
/// In `commit`: their count stands after the data (`RB_MISSED_STORED`).
const MISSED_STORED: u64 = 1 << 30;

/// One CPU's pages on their way into `out`, which gets whole ones only; in this machine's byte order and for
/// a 64-bit reader.
#[derive(Debug)]
pub struct PageWriter<W> {
    out: W,
    page_size: usize,
    page: Vec<u8>,
    /// The time of the last record of the page.
    last: u64,
    lost: Option<LostBefore>,
    written: u64,
}

impl<W: Write> PageWriter<W> {
    /// No pages yet. Pages of less than a record's worth are not sensible; the kernel's have 4 KiB and more.
    pub fn new(out: W, page_size: usize) -> PageWriter<W> {
        PageWriter { out, page_size, page: Vec::with_capacity(page_size), last: 0, lost: None, written: 0 }
    }

    /// Adds a record of the time `ts`, not before that of the last one: an earlier one gets the last one's.
    ///
    /// # Errors
    /// What `out` answers; [`io::ErrorKind::InvalidInput`] for a record that no page holds.
    pub fn push(&mut self, ts: u64, record: &[u8]) -> io::Result<()> {
        let ts = ts.max(self.last);
        let words = record.len().div_ceil(4).max(1);
        let length = if words > SHORT_WORDS { 8 } else { 4 } + words * 4;
        if HEADER + length + self.room_for_lost() > self.page_size {
            let what =
                format!("a record of {} bytes does not fit a page of {}", record.len(), self.page_size);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let far = ts - self.last > LONGEST_DELTA;
        if !self.page.is_empty() && (far || self.page.len() + length + self.extend(ts) > self.capacity()) {
            self.flush_page()?;
        }
        if self.page.is_empty() {
            self.begin_page(ts);
            self.last = ts;
        }
        let delta = ts - self.last;
        if self.extend(ts) > 0 {
            self.word(TIME_EXTEND, delta);
            self.page.extend(((delta >> DELTA_BITS) as u32).to_ne_bytes());
        }
        let delta = if self.extend(ts) > 0 { 0 } else { delta };
        if words > SHORT_WORDS {
            self.word(0, delta);
            self.page.extend((words as u32 * 4 + 4).to_ne_bytes());
        } else {
            self.word(words as u32, delta);
        }
        self.page.extend(record);
        self.page.resize(self.page.len().next_multiple_of(4), 0);
        if record.is_empty() {
            self.page.extend([0; 4]);
        }
        self.last = ts;
        Ok(())
    }

    /// Notes that events were lost before the next record.
    ///
    /// # Errors
    /// What `out` answers.
    pub fn lose(&mut self, lost: LostBefore) -> io::Result<()> {
        self.flush_page()?;
        self.lost = Some(match self.lost {
            None => lost,
            Some(before) => LostBefore {
                count: before.count.zip(lost.count).map(|(before, more)| before.saturating_add(more)),
            },
        });
        Ok(())
    }

    /// Ends the last page; gives `out` back, with the number of bytes it got. A page without
    /// records reports what was lost behind the last record.
    ///
    /// # Errors
    /// What `out` answers.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        self.flush_page()?;
        if self.lost.is_some() {
            self.begin_page(self.last);
            self.flush_page()?;
        }
        self.out.flush()?;
        Ok((self.out, self.written))
    }

    fn begin_page(&mut self, ts: u64) {
        self.page.extend(ts.to_ne_bytes());
        self.page.extend(0u64.to_ne_bytes());
    }

    /// Bytes that a page may hold, its header included.
    fn capacity(&self) -> usize {
        self.page_size - self.room_for_lost()
    }

    fn room_for_lost(&self) -> usize {
        if self.lost.is_some_and(|lost| lost.count.is_some()) { 8 } else { 0 }
    }

    /// Bytes of the time extend that a record at `ts` needs in this page.
    fn extend(&self, ts: u64) -> usize {
        if !self.page.is_empty() && (ts - self.last) >> DELTA_BITS > 0 { 8 } else { 0 }
    }

    fn word(&mut self, kind: u32, delta: u64) {
        let delta = delta as u32 & ((1 << DELTA_BITS) - 1);
        let word = match cfg!(target_endian = "big") {
            true => kind << DELTA_BITS | delta,
            false => delta << 5 | kind,
        };
        self.page.extend(word.to_ne_bytes());
    }

    fn flush_page(&mut self) -> io::Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        let mut commit = (self.page.len() - HEADER) as u64;
        if let Some(lost) = self.lost.take() {
            commit |= MISSED_EVENTS;
            if let Some(count) = lost.count {
                commit |= MISSED_STORED;
                self.page.extend(count.to_ne_bytes());
            }
        }
        if let Some(word) = self.page.get_mut(8..HEADER) {
            word.copy_from_slice(&commit.to_ne_bytes());
        }
        self.page.resize(self.page_size, 0);
        self.out.write_all(&self.page)?;
        self.written += self.page.len() as u64;
        self.page.clear();
        Ok(())
    }
}
