//! Short strings that live inside an event, so that decoding one allocates nothing.

use serde::{Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};

/// At most `N` bytes of text, kept inline; longer text is truncated.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: u8,
}

/// A thread's name as the kernel keeps it: 15 characters and a NUL (`TASK_COMM_LEN`).
pub type Comm = Text<16>;

impl<const N: usize> Text<N> {
    /// From bytes that end at the first NUL, or at `N`.
    #[inline]
    pub fn from_bytes(source: &[u8]) -> Self {
        const { assert!(N <= u8::MAX as usize) };
        // In most traces, most text is thread names.
        if N == 16
            && let Some(whole) = source.first_chunk::<16>()
        {
            let (low, high, len) = until_nul(u128::from_le_bytes(*whole));
            let mut bytes = [0; N];
            bytes[..8].copy_from_slice(&low.to_le_bytes());
            bytes[8..16].copy_from_slice(&high.to_le_bytes());
            return Text { bytes, len };
        }
        let end = source.iter().take(N).position(|&b| b == 0).unwrap_or(source.len().min(N));
        let mut bytes = [0; N];
        bytes[..end].copy_from_slice(&source[..end]);
        Text { bytes, len: end as u8 }
    }

    /// The bytes, without padding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// As text; for a truncated or invalid byte sequence its valid prefix.
    pub fn as_str(&self) -> &str {
        match std::str::from_utf8(self.as_bytes()) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&self.as_bytes()[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// True when [`Text::as_str`] is `text`, without looking at characters that are equal.
    pub fn is(&self, text: &str) -> bool {
        match self.as_bytes().strip_prefix(text.as_bytes()) {
            Some([]) => true,
            Some(_) => self.as_str() == text,
            None => false,
        }
    }

    /// True when there is no text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The first eight bytes before the first NUL and the eight behind them, lowest first, the others cleared; and the number
/// of bytes before the first NUL.
#[inline]
fn until_nul(bytes: u128) -> (u64, u64, u8) {
    let (low, high) = (bytes as u64, (bytes >> 64) as u64);
    match before_nul(low) {
        (low, 8) => {
            let (high, len) = before_nul(high);
            (low, high, 8 + len)
        }
        (low, len) => (low, 0, len),
    }
}

/// The bytes before the first NUL, lowest first, the others cleared; and their number.
#[inline]
fn before_nul(bytes: u64) -> (u64, u8) {
    const ONES: u64 = u64::MAX / 255;
    // The lowest bit set is the top one of the first byte that is 0 (borrows only spread upwards).
    let nul = bytes.wrapping_sub(ONES) & !bytes & (ONES << 7);
    if nul == 0 {
        return (bytes, 8);
    }
    // From the lowest bit of that byte on.
    let from_nul = (nul >> 7) & (nul >> 7).wrapping_neg();
    (bytes & (from_nul - 1), (nul.trailing_zeros() / 8) as u8)
}

impl<const N: usize> AsRef<[u8]> for Text<N> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Text { bytes: [0; N], len: 0 }
    }
}

impl<const N: usize> From<&str> for Text<N> {
    fn from(text: &str) -> Self {
        Text::from_bytes(text.as_bytes())
    }
}

impl<const N: usize> PartialEq for Text<N> {
    fn eq(&self, other: &Self) -> bool {
        // The bytes after the text are zero.
        self.bytes == other.bytes && self.len == other.len
    }
}

impl<const N: usize> Eq for Text<N> {}

impl<const N: usize> Hash for Text<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> Serialize for Text<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_at_nul_or_at_capacity() {
        assert_eq!(Comm::from_bytes(b"rtload\0garbage").as_str(), "rtload");
        assert_eq!(Comm::from("a name that is far too long").as_str(), "a name that is f");
        assert_eq!(Comm::from_bytes(b"ok\xff").as_str(), "ok");
        assert!(Comm::from("").is_empty());
    }

    #[test]
    fn a_name_is_equal_to_a_text_as_its_valid_characters_are() {
        for bytes in [&b"rtload"[..], b"", b"ok\xff", b"\xff", "caf\u{e9}".as_bytes()] {
            let comm = Comm::from_bytes(bytes);
            for text in ["rtload", "rtloa", "rtloads", "", "ok", "o", "caf\u{e9}", "caf"] {
                assert_eq!(comm.is(text), comm.as_str() == text, "{bytes:?} {text}");
            }
        }
    }

    #[test]
    fn every_length_of_name_ends_where_it_should() {
        let name = b"sixteen-bytes-xx";
        for len in 0..=16 {
            for behind in [0, b'?', 0x80, 0xff, 1] {
                let mut bytes = [behind; 16];
                bytes[..len].copy_from_slice(&name[..len]);
                if len < 16 {
                    bytes[len] = 0;
                }
                assert_eq!(Comm::from_bytes(&bytes), Comm::from_bytes(&name[..len]), "{len} {behind}");
                assert_eq!(Comm::from_bytes(&bytes).as_bytes(), &name[..len]);
            }
        }
    }
}
