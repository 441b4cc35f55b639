//! Fields looked up once, read many times.

use crate::bytes::{Endian, until_nul};
use crate::format::{EventFormat, Place, located};
use whylate_base::Text;

/// Where an integer lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Int {
    offset: usize,
    size: u8,
    signed: bool,
}

impl Int {
    /// The value; `None` where the record is too short.
    #[inline]
    pub(super) fn read(self, endian: Endian, record: &[u8]) -> Option<i64> {
        endian.int(record, self.offset, usize::from(self.size), self.signed)
    }
}

/// Where a string lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Str {
    offset: usize,
    size: usize,
    place: Place,
}

impl Str {
    /// The bytes up to the first NUL; empty where the string lies outside the record.
    #[inline]
    pub(super) fn read(self, endian: Endian, record: &[u8]) -> &[u8] {
        until_nul(self.bytes(endian, record))
    }

    /// The same, into an event.
    #[inline]
    pub(super) fn text<const N: usize>(self, endian: Endian, record: &[u8]) -> Text<N> {
        Text::from_bytes(self.bytes(endian, record))
    }

    #[inline]
    fn bytes(self, endian: Endian, record: &[u8]) -> &[u8] {
        let bytes = match self.place {
            Place::Here if self.size == 0 => record.get(self.offset..),
            Place::Here => record.get(self.offset..self.offset + self.size),
            Place::DataLoc => located(endian, record, self.offset, 0),
            Place::RelLoc => located(endian, record, self.offset, self.offset + 4),
        };
        bytes.unwrap_or_default()
    }
}

/// Looks fields up in a format, and notes how long a record must be to have them all.
pub(super) struct Lookup<'f> {
    pub(super) format: &'f EventFormat,
    shortest: usize,
}

/// Records are at most a sub-buffer long; a field past this is not a field.
const FARTHEST: usize = 1 << 27;

impl<'f> Lookup<'f> {
    pub(super) fn new(format: &'f EventFormat) -> Self {
        Lookup { format, shortest: 0 }
    }

    pub(super) fn shortest(&self) -> usize {
        self.shortest
    }

    /// An integer or pointer.
    pub(super) fn int(&mut self, name: &str) -> Option<Int> {
        let field = self.format.field(name).filter(|field| !field.array && field.place == Place::Here)?;
        let size = matches!(field.size, 1 | 2 | 4 | 8).then_some(field.size as u8)?;
        self.reach(field.offset, field.size)?;
        Some(Int { offset: field.offset, size, signed: field.signed })
    }

    /// The first of several names that there is: fields were renamed between kernels.
    pub(super) fn int_of(&mut self, names: &[&str]) -> Option<Int> {
        names.iter().find_map(|name| self.int(name))
    }

    /// The elements of an array of longs.
    pub(super) fn longs(&mut self, name: &str, count: usize) -> Option<Vec<Int>> {
        let field = self.format.field(name).filter(|field| field.array && field.place == Place::Here)?;
        let size = field.size / count;
        (matches!(size, 4 | 8) && size * count == field.size).then_some(())?;
        self.reach(field.offset, field.size)?;
        Some(
            (0..count)
                .map(|i| Int { offset: field.offset + i * size, size: size as u8, signed: false })
                .collect(),
        )
    }

    /// A string, wherever it is kept.
    pub(super) fn text(&mut self, name: &str) -> Option<Str> {
        let field = self.format.field(name).filter(|field| field.array)?;
        let size = if field.place == Place::Here { field.size } else { 4 };
        self.reach(field.offset, size)?;
        Some(Str { offset: field.offset, size, place: field.place })
    }

    fn reach(&mut self, offset: usize, size: usize) -> Option<()> {
        let end = offset.checked_add(size).filter(|&end| end <= FARTHEST)?;
        self.shortest = self.shortest.max(end);
        Some(())
    }
}
