//! Fields looked up once, read many times.

use crate::bytes::{Endian, until_nul};
use crate::format::{EventFormat, ValueAt, located};
use whylate_base::Text;

/// Where an integer lies: in the eight bytes from `at` on, all but it shifted out. One load and two shifts
/// serve every size, and an event has several integers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Int {
    at: usize,
    up: u8,
    down: u8,
    signed: bool,
}

impl Int {
    /// An integer of `size` bytes, at most 8. Of the eight bytes that are read it is the last, so that they
    /// reach past the end of no record: each begins with eight bytes of common fields.
    fn new(endian: Endian, offset: usize, size: usize, signed: bool) -> Int {
        let at = (offset + size).saturating_sub(8);
        let up = match endian {
            Endian::Little => 8 - (offset + size - at),
            Endian::Big => offset - at,
        };
        Int { at, up: 8 * up as u8, down: 64 - 8 * size as u8, signed }
    }

    /// The value; `None` where the record is too short.
    #[inline]
    pub(super) fn read(self, endian: Endian, record: &[u8]) -> Option<i64> {
        let word = endian.u64(record, self.at)? << self.up;
        Some(if self.signed { word as i64 >> self.down } else { (word >> self.down) as i64 })
    }
}

/// Where a string lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Str {
    offset: usize,
    size: usize,
    place: ValueAt,
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
            ValueAt::Here if self.size == 0 => record.get(self.offset..),
            ValueAt::Here => record.get(self.offset..self.offset + self.size),
            ValueAt::DataLoc => located(endian, record, self.offset, 0),
            ValueAt::RelLoc => located(endian, record, self.offset, self.offset + 4),
        };
        bytes.unwrap_or_default()
    }
}

/// Looks fields up in a format, and notes how long a record must be to have them all.
pub(super) struct Lookup<'f> {
    pub(super) format: &'f EventFormat,
    endian: Endian,
    shortest: usize,
}

/// Records are at most a sub-buffer long; a field past this is not a field.
const FARTHEST: usize = 1 << 27;

impl<'f> Lookup<'f> {
    pub(super) fn new(format: &'f EventFormat, endian: Endian) -> Self {
        Lookup { format, endian, shortest: 0 }
    }

    pub(super) fn shortest(&self) -> usize {
        self.shortest
    }

    /// An integer or pointer.
    pub(super) fn int(&mut self, name: &str) -> Option<Int> {
        let field = self.format.field(name).filter(|field| !field.array && field.place == ValueAt::Here)?;
        matches!(field.size, 1 | 2 | 4 | 8).then_some(())?;
        self.reach(field.offset, field.size)?;
        Some(Int::new(self.endian, field.offset, field.size, field.signed))
    }

    /// The first of several names that there is: fields were renamed between kernels.
    pub(super) fn int_of(&mut self, names: &[&str]) -> Option<Int> {
        names.iter().find_map(|name| self.int(name))
    }

    /// The elements of an array of longs.
    pub(super) fn longs(&mut self, name: &str, count: usize) -> Option<Vec<Int>> {
        let field = self.format.field(name).filter(|field| field.array && field.place == ValueAt::Here)?;
        let size = field.size / count;
        (matches!(size, 4 | 8) && size * count == field.size).then_some(())?;
        self.reach(field.offset, field.size)?;
        Some((0..count).map(|i| Int::new(self.endian, field.offset + i * size, size, false)).collect())
    }

    /// Where an array begins, and how long it is; zero of one that ends with the record.
    pub(super) fn array(&mut self, name: &str) -> Option<(usize, usize)> {
        let field = self.format.field(name).filter(|field| field.array && field.place == ValueAt::Here)?;
        self.reach(field.offset, 0)?;
        Some((field.offset, field.size))
    }

    /// True when the fields (name, offset, size) lie where nearly every machine has them, least significant
    /// byte first: such records are decoded without asking where each field is.
    pub(super) fn lies_as(&self, fields: &[(&str, usize, usize)]) -> bool {
        self.endian == Endian::Little
            && fields.iter().all(|&(name, offset, size)| {
                let field = self.format.field(name).filter(|field| field.place == ValueAt::Here);
                field.is_some_and(|field| (field.offset, field.size) == (offset, size))
            })
    }

    /// A string, wherever it is kept.
    pub(super) fn text(&mut self, name: &str) -> Option<Str> {
        let field = self.format.field(name).filter(|field| field.array)?;
        let size = if field.place == ValueAt::Here { field.size } else { 4 };
        self.reach(field.offset, size)?;
        Some(Str { offset: field.offset, size, place: field.place })
    }

    fn reach(&mut self, offset: usize, size: usize) -> Option<()> {
        let end = offset.checked_add(size).filter(|&end| end <= FARTHEST)?;
        self.shortest = self.shortest.max(end);
        Some(())
    }
}
