//! Integers in a recording's own byte order, read from slices without ever running past them.

/// The byte order of a recording, which is the traced machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

macro_rules! reader {
    ($name:ident, $type:ty) => {
        /// The integer at byte `at`, or `None` where it would reach past the end.
        #[inline]
        pub fn $name(self, bytes: &[u8], at: usize) -> Option<$type> {
            let raw = bytes.get(at..)?.first_chunk()?;
            Some(match self {
                Endian::Little => <$type>::from_le_bytes(*raw),
                Endian::Big => <$type>::from_be_bytes(*raw),
            })
        }
    };
}

impl Endian {
    /// The byte order of the machine this runs on.
    pub const NATIVE: Endian = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };

    reader!(u16, u16);
    reader!(u32, u32);
    reader!(u64, u64);

    /// A C `long` of 4 or 8 bytes.
    #[inline]
    pub fn long(self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        match size {
            4 => self.u32(bytes, at).map(u64::from),
            _ => self.u64(bytes, at),
        }
    }

    /// An integer of 1, 2, 4 or 8 bytes, widened with its sign where it has one.
    #[inline]
    pub fn int(self, bytes: &[u8], at: usize, size: usize, signed: bool) -> Option<i64> {
        Some(match (size, signed) {
            (4, true) => i64::from(self.u32(bytes, at)? as i32),
            (4, false) => i64::from(self.u32(bytes, at)?),
            (8, _) => self.u64(bytes, at)? as i64,
            (2, true) => i64::from(self.u16(bytes, at)? as i16),
            (2, false) => i64::from(self.u16(bytes, at)?),
            (1, true) => i64::from(*bytes.get(at)? as i8),
            (1, false) => i64::from(*bytes.get(at)?),
            _ => return None,
        })
    }
}

/// The bytes up to the first NUL, or all of them.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_and_all_widths() {
        let bytes = [0xff, 0xfe, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06];
        assert_eq!(Endian::Little.u16(&bytes, 2), Some(0x0201));
        assert_eq!(Endian::Big.u16(&bytes, 2), Some(0x0102));
        assert_eq!(Endian::Big.u32(&bytes, 2), Some(0x0102_0304));
        assert_eq!(Endian::Little.int(&bytes, 0, 1, true), Some(-1));
        assert_eq!(Endian::Little.int(&bytes, 0, 1, false), Some(255));
        assert_eq!(Endian::Big.int(&bytes, 0, 2, true), Some(-2));
        assert_eq!(Endian::Little.long(&bytes, 4, 4), Some(0x0605_0403));
        assert_eq!(Endian::Little.u64(&bytes, 1), None);
        assert_eq!(Endian::Little.u32(&bytes, usize::MAX), None);
        assert_eq!(Endian::Little.int(&bytes, 0, 3, false), None);
    }
}
