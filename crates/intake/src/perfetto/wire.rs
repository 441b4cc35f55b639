//! Protobuf's wire format: tags, varints and lengths (protobuf.dev, "Encoding").

use std::ops::Range;

/// A varint and the bytes it takes; `None` where it is cut or longer than 64 bits.
#[inline]
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
    }
    None
}

/// A field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An integer, in two's complement where the field is signed.
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// A string, message or packed numbers: their place.
    Bytes(Range<usize>),
}

/// A field: its number, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) value: Value,
}

/// Reads the field at `*at` and moves on; `None` at the end, or where it makes no sense:
/// then `*at` stays short of the end.
#[inline]
pub(super) fn field(bytes: &[u8], at: &mut usize, end: usize) -> Option<Field> {
    let left = bytes.get(*at..end).filter(|left| !left.is_empty())?;
    let (tag, size) = varint(left)?;
    let number = u32::try_from(tag >> 3).ok().filter(|&number| number > 0)?;
    let start = *at + size;
    let rest = left.get(size..)?;
    let (value, next) = match tag & 7 {
        0 => varint(rest).map(|(value, size)| (Value::Varint(value), start + size))?,
        1 => (Value::Fixed64(u64::from_le_bytes(*rest.first_chunk()?)), start + 8),
        2 => {
            let (length, size) = varint(rest)?;
            let from = start + size;
            let to = usize::try_from(length).ok()?.checked_add(from).filter(|&to| to <= end)?;
            (Value::Bytes(from..to), to)
        }
        5 => (Value::Fixed32(u32::from_le_bytes(*rest.first_chunk()?)), start + 4),
        _ => return None,
    };
    *at = next;
    Some(Field { number, value })
}

/// The fields of a message, as far as they make sense.
pub(super) fn fields(bytes: &[u8]) -> impl Iterator<Item = Field> {
    let mut at = 0;
    std::iter::from_fn(move || field(bytes, &mut at, bytes.len()))
}

impl Field {
    /// As an integer.
    #[inline]
    pub(super) fn int(&self) -> Option<u64> {
        match self.value {
            Value::Varint(value) | Value::Fixed64(value) => Some(value),
            Value::Fixed32(value) => Some(value.into()),
            Value::Bytes(_) => None,
        }
    }

    /// As text or message.
    #[inline]
    pub(super) fn bytes<'b>(&self, all: &'b [u8]) -> Option<&'b [u8]> {
        match &self.value {
            Value::Bytes(place) => all.get(place.clone()),
            _ => None,
        }
    }
}

/// `Trace.packet`, as a tag: field 1, with a length.
pub(super) const PACKET: u8 = 0x0a;

/// True when bytes begin as a Perfetto trace does: packets one after the other, of fields that make
/// sense. Text that begins with an empty line has the same first byte, and fails at its second line.
pub(crate) fn begins(start: &[u8]) -> bool {
    let (mut at, mut whole) = (0, 0);
    let control = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    if !start.iter().any(control) {
        return false;
    }
    while let Some(&PACKET) = start.get(at) {
        let Some((length, size)) = start.get(at + 1..).and_then(varint) else { break };
        let from = at + 1 + size;
        let Some(end) = usize::try_from(length).ok().and_then(|length| from.checked_add(length)) else {
            return false;
        };
        let Some(packet) = start.get(from..end) else {
            // Longer than what was read: its first field must do.
            let first = start.get(from..).and_then(varint);
            return whole > 0 || first.is_some_and(|(tag, _)| plausible(tag));
        };
        let mut inside = 0;
        while let Some(field) = field(packet, &mut inside, packet.len()) {
            if field.number > HIGHEST_PACKET_FIELD {
                return false;
            }
        }
        if inside != packet.len() {
            return false;
        }
        whole += usize::from(!packet.is_empty());
        at = end;
        if whole == 8 {
            return true;
        }
    }
    whole > 0 && at >= start.len()
}

/// `TracePacket` has fields up to about 1000 (extensions).
const HIGHEST_PACKET_FIELD: u32 = 10_000;

/// True for a tag that a packet's first field may have.
pub(super) fn plausible(tag: u64) -> bool {
    (1..=u64::from(HIGHEST_PACKET_FIELD)).contains(&(tag >> 3)) && matches!(tag & 7, 0 | 1 | 2 | 5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn varints_of_every_length() {
        assert_eq!(varint(&[0x96, 0x01, 7]), Some((150, 2)));
        assert_eq!(varint(&[0xff; 9]), None);
        let longest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(varint(&longest), Some((u64::MAX, 10)));
        assert_eq!(varint(&[0xff; 12]), None);
        assert_eq!(varint(&[]), None);
    }

    #[test]
    fn text_is_no_perfetto_trace() {
        for text in ["\n# tracer: nop\n#\n", "\n\n\n", "\n a-1 [000] 1.5: x: y\n", "\n", ""] {
            assert!(!begins(text.as_bytes()), "{text:?}");
        }
        assert!(begins(&[PACKET, 2, 8, 1, PACKET, 2, 8, 2]));
        assert!(!begins(&[PACKET, 2, 8, 1, 0, 0]));
    }

    proptest! {
        #[test]
        fn no_bytes_run_past_their_end(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for field in fields(&bytes) {
                if let Value::Bytes(place) = field.value {
                    prop_assert!(place.end <= bytes.len());
                }
            }
            begins(&bytes);
        }
    }
}
