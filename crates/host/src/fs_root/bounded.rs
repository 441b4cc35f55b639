//! Parts of a document that take no more memory than a few times their text, whatever that is.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Lines, each an element of the document's list: an empty one takes three bytes there, and would take ten times as
/// much as a string of its own.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lines(pub(super) String);

impl Lines {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        self.0.lines().try_for_each(|line| list.serialize_element(line))?;
        list.end()
    }
}

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Lines, D::Error> {
        deserializer.deserialize_seq(LinesVisitor)
    }
}

struct LinesVisitor;

impl<'de> Visitor<'de> for LinesVisitor {
    type Value = Lines;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Lines, A::Error> {
        let mut lines = String::new();
        let mut first = true;
        while let Some(line) = list.next_element::<String>()? {
            if !first {
                lines.push('\n');
            }
            first = false;
            lines.push_str(&line);
        }
        Ok(Lines(lines))
    }
}

/// A list of at most `MOST` elements.
pub(super) fn entries<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(EntriesVisitor::<T, MOST>(PhantomData))
}

struct EntriesVisitor<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for EntriesVisitor<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            if entries.len() >= MOST {
                return Err(A::Error::custom(format!("more than {MOST} entries")));
            }
            entries.push(entry);
        }
        Ok(entries)
    }
}
