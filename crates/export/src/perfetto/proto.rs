//! Protocol buffers' wire format, as much of it as is written here (protobuf.dev/programming-guides/encoding).

/// A message on its way.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// Wire types.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    pub(super) fn new() -> Message {
        Message::default()
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn uint(&mut self, field: u32, value: impl Into<u64>) {
        self.key(field, VARINT);
        self.varint(value.into());
    }

    /// `int32` and `int64`: a negative number takes ten bytes.
    pub(super) fn int(&mut self, field: u32, value: impl Into<i64>) {
        self.key(field, VARINT);
        self.varint(value.into() as u64);
    }

    pub(super) fn bool(&mut self, field: u32, value: bool) {
        self.uint(field, value);
    }

    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.key(field, FIXED64);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, FIXED64);
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn text(&mut self, field: u32, value: &str) {
        self.data(field, value.as_bytes());
    }

    pub(super) fn data(&mut self, field: u32, value: &[u8]) {
        self.key(field, LENGTH);
        self.varint(value.len() as u64);
        self.bytes.extend(value);
    }

    /// A message within, written in place; what its length takes is moved in afterwards.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        self.key(field, LENGTH);
        let start = self.bytes.len();
        write(self);
        let length = (self.bytes.len() - start) as u64;
        let end = self.bytes.len();
        self.varint(length);
        let taken = self.bytes.len() - end;
        if let Some(moved) = self.bytes.get_mut(start..) {
            moved.rotate_right(taken);
        }
    }

    /// The fields of another message.
    pub(super) fn append(&mut self, fields: &Message) {
        self.bytes.extend(&fields.bytes);
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        let mut message = Message::new();
        message.uint(1, 150u32);
        assert_eq!(message.as_bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.as_bytes(), b"\x12\x07testing");
        message.clear();
        message.message(3, |inner| inner.uint(1, 150u32));
        assert_eq!(message.as_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        message.clear();
        message.int(1, -2);
        assert_eq!(message.as_bytes(), [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
    }

    #[test]
    fn a_long_message_within_has_its_length_before_it() {
        let mut message = Message::new();
        message.message(1, |inner| inner.data(2, &[7; 300]));
        assert_eq!(message.as_bytes()[..5], [0x0a, 0xaf, 0x02, 0x12, 0xac]);
        assert_eq!(message.len(), 3 + 3 + 300);
    }
}
