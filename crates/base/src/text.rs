//! Short strings that live inside an event, so that decoding one allocates nothing.

use serde::{Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};

/// At most `N` bytes of text, kept inline; what is longer is cut.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: u8,
}

/// A thread's name as the kernel keeps it: 15 characters and a NUL (`TASK_COMM_LEN`).
pub type Comm = Text<16>;

impl<const N: usize> Text<N> {
    /// From bytes that end at the first NUL, or at `N`.
    pub fn from_bytes(source: &[u8]) -> Self {
        const { assert!(N <= u8::MAX as usize) };
        let end = source.iter().take(N).position(|&b| b == 0).unwrap_or(source.len().min(N));
        let mut bytes = [0; N];
        bytes[..end].copy_from_slice(&source[..end]);
        Text { bytes, len: end as u8 }
    }

    /// The bytes, without padding.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// As text; a cut or foreign byte sequence shows its readable prefix.
    pub fn as_str(&self) -> &str {
        match std::str::from_utf8(self.as_bytes()) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&self.as_bytes()[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// True when there is no text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
        self.as_bytes() == other.as_bytes()
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
}
