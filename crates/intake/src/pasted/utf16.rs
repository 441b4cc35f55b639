//! UTF-16, in which PowerShell and some editors write text files, as UTF-8.

use std::io::{self, Read};

/// How much of a file's beginning shows what it is.
const LOOKED_AT: usize = 4096;
/// Fewer bytes show nothing without a mark.
const LEAST: usize = 32;
/// Units decoded at a time.
const UNITS: usize = 4096;

/// Which byte of a unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Utf16 {
    LittleEndian,
    BigEndian,
}

impl Utf16 {
    /// By every other byte being zero, as in text that is nearly all ASCII; with a mark at the beginning (U+FEFF) a short text
    /// shows it as well.
    pub(crate) fn of(start: &[u8]) -> Option<Utf16> {
        let least = match start {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => 2 * 2,
            _ => LEAST,
        };
        let start = start.get(..LOOKED_AT).unwrap_or(start);
        let (all, [mut first, mut second]) = (start.len() / 2, [0, 0]);
        for unit in start.chunks_exact(2).filter(|unit| !matches!(unit, [0xff, 0xfe] | [0xfe, 0xff])) {
            first += usize::from(unit[0] == 0);
            second += usize::from(unit[1] == 0);
        }
        let (many, few) = (|zeros: usize| (zeros + 1) * 10 >= all * 9, |zeros: usize| zeros * 10 <= all);
        if start.len() < least {
            None
        } else if few(first) && many(second) {
            Some(Utf16::LittleEndian)
        } else {
            (many(first) && few(second)).then_some(Utf16::BigEndian)
        }
    }

    /// The text of `from` in UTF-8. What is no character is replaced; half a unit at the end is left out.
    pub(crate) fn decoded<R: Read>(self, from: R) -> impl Read + use<R> {
        Decoded { from, order: self, held: Vec::new(), text: Vec::new(), given: 0 }
    }

    fn unit(self, pair: [u8; 2]) -> u16 {
        match self {
            Utf16::LittleEndian => u16::from_le_bytes(pair),
            Utf16::BigEndian => u16::from_be_bytes(pair),
        }
    }
}

struct Decoded<R> {
    from: R,
    order: Utf16,
    /// Bytes that wait for what follows them: half a unit, or half a pair of surrogates.
    held: Vec<u8>,
    text: Vec<u8>,
    /// How much of the text was handed out.
    given: usize,
}

impl<R: Read> Decoded<R> {
    /// Decodes more of the text; false at the end.
    fn more(&mut self) -> io::Result<bool> {
        let before = self.held.len();
        self.from.by_ref().take((2 * UNITS) as u64).read_to_end(&mut self.held)?;
        let has_ended = self.held.len() == before;
        let mut units: Vec<u16> =
            self.held.chunks_exact(2).map(|pair| self.order.unit([pair[0], pair[1]])).collect();
        let mut used = 2 * units.len();
        // The second half may be still to come.
        if !has_ended && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            units.pop();
            used -= 2;
        }
        self.held.drain(..used);
        self.text.clear();
        self.given = 0;
        let characters = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
        let mut bytes = [0; 4];
        // The mark is none of the text.
        for character in characters.filter(|&character| character != '\u{feff}') {
            self.text.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
        }
        Ok(!has_ended)
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            if !self.more()? && self.text.is_empty() {
                return Ok(0);
            }
        }
        let left = self.text.get(self.given..).unwrap_or_default();
        let count = left.len().min(buffer.len());
        let (from, to) = (left.get(..count).unwrap_or_default(), buffer.get_mut(..count).unwrap_or_default());
        to.copy_from_slice(from);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, order: Utf16) -> Vec<u8> {
        let bytes = |unit: u16| match order {
            Utf16::LittleEndian => unit.to_le_bytes(),
            Utf16::BigEndian => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn text_comes_back_in_both_orders_and_across_the_bounds_of_reads() {
        let line = "bash-12 [000] 1.0: naïve \u{1f600}\n";
        for order in [Utf16::LittleEndian, Utf16::BigEndian] {
            for shift in ["", "x"] {
                let text = format!("{shift}{}", line.repeat(2 * UNITS / line.len() + 200));
                for mark in ["\u{feff}", ""] {
                    let bytes = encoded(&format!("{mark}{text}"), order);
                    assert_eq!(Utf16::of(&bytes), Some(order), "{mark:?}");
                    let mut read = String::new();
                    order.decoded(bytes.as_slice()).read_to_string(&mut read).expect("memory reads");
                    assert_eq!(read, text);
                }
            }
        }
    }

    #[test]
    fn what_is_cut_or_no_character_is_replaced_or_left_out() {
        for (bytes, text) in [
            (&b"a\0b\0c"[..], "ab"),
            (b"a\0\x3d\xd8b\0", "a\u{fffd}b"),
            (b"a\0\x3d\xd8", "a\u{fffd}"),
            (b"", ""),
        ] {
            let mut read = String::new();
            Utf16::LittleEndian.decoded(bytes).read_to_string(&mut read).expect("memory reads");
            assert_eq!(read, text);
        }
    }

    #[test]
    fn other_files_are_not_taken_for_it() {
        for bytes in [
            "plain text ".repeat(9).into_bytes(),
            vec![0; 100],
            [1_u32, 2, 300, 70000].repeat(20).into_iter().flat_map(u32::to_le_bytes).collect(),
            b"a\0b\0".to_vec(),
            b"\xff\xfe\0\0a\0\0\0".to_vec(),
        ] {
            assert_eq!(Utf16::of(&bytes), None, "{bytes:?}");
        }
    }
}
