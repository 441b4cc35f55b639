//! Reading a trace.dat's headers in order: numbers, strings and sized blocks.

use super::error::Trouble;
use super::read_at::{ReadAt, read_full};
use crate::bytes::Endian;

/// A position in a file or in an unpacked section.
pub(super) struct Input<'s> {
    source: &'s dyn ReadAt,
    pub(super) at: u64,
    pub(super) endian: Endian,
    /// Where an unpacked section stands in the file: what errors should point at.
    shown: Option<u64>,
}

/// No description in a trace.dat is larger: a kallsyms of a million symbols has 50 MB.
pub(super) const LARGEST_BLOCK: u64 = 256 << 20;

impl<'s> Input<'s> {
    pub(super) fn new(source: &'s dyn ReadAt, at: u64, endian: Endian) -> Self {
        Input { source, at, endian, shown: None }
    }

    /// Over a section that was unpacked from `file_offset`.
    pub(super) fn unpacked(source: &'s dyn ReadAt, endian: Endian, file_offset: u64) -> Self {
        Input { source, at: 0, endian, shown: Some(file_offset) }
    }

    /// The offset in the file that an error here should name.
    pub(super) fn place(&self) -> u64 {
        self.shown.unwrap_or(self.at)
    }

    pub(super) fn left(&self) -> u64 {
        self.source.size().saturating_sub(self.at)
    }

    pub(super) fn take(&mut self, length: u64, what: &'static str) -> Result<Vec<u8>, Trouble> {
        if length > self.left() {
            return Err(Trouble::Cut { at: self.shown.unwrap_or(self.source.size()), what });
        }
        if length > LARGEST_BLOCK {
            return Err(Trouble::bad(self.place(), format!("{what} claims {length} bytes")));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8], what: &'static str) -> Result<(), Trouble> {
        let count = read_full(self.source, bytes, self.at)
            .map_err(|source| Trouble::Io { at: self.place(), source })?;
        if count < bytes.len() {
            return Err(Trouble::Cut { at: self.shown.unwrap_or(self.source.size()), what });
        }
        self.at += count as u64;
        Ok(())
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, Trouble> {
        let mut bytes = [0; 1];
        self.fill(&mut bytes, what)?;
        Ok(bytes[0])
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, Trouble> {
        let mut bytes = [0; 2];
        self.fill(&mut bytes, what)?;
        Ok(self.endian.u16(&bytes, 0).unwrap_or_default())
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Trouble> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes, what)?;
        Ok(self.endian.u32(&bytes, 0).unwrap_or_default())
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Trouble> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes, what)?;
        Ok(self.endian.u64(&bytes, 0).unwrap_or_default())
    }

    /// A string that ends with a NUL, within `longest` bytes.
    pub(super) fn string(&mut self, longest: usize, what: &'static str) -> Result<String, Trouble> {
        let start = self.place();
        let mut bytes = vec![0; longest.min(usize::try_from(self.left()).unwrap_or(longest))];
        let read = read_full(self.source, &mut bytes, self.at)
            .map_err(|source| Trouble::Io { at: start, source })?;
        bytes.truncate(read);
        let Some(end) = bytes.iter().position(|&byte| byte == 0) else {
            return Err(match read < longest {
                true => Trouble::Cut { at: self.shown.unwrap_or(self.source.size()), what },
                false => Trouble::bad(start, format!("{what} has no end")),
            });
        };
        self.at += end as u64 + 1;
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// A block whose size, 8 bytes, stands in front of it.
    pub(super) fn sized64(&mut self, what: &'static str) -> Result<Vec<u8>, Trouble> {
        let size = self.u64(what)?;
        self.take(size, what)
    }

    /// A fixed word such as `header_page\0`.
    pub(super) fn expect(&mut self, word: &[u8], what: &'static str) -> Result<(), Trouble> {
        let at = self.place();
        match self.take(word.len() as u64, what)? == word {
            true => Ok(()),
            false => Err(Trouble::bad(at, format!("{what} is not where it should be"))),
        }
    }
}
