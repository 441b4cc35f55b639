//! The conversions of a C format string: `%-10s`, `%#llx`, `%*pbl`.

use super::value::{Ty, Value};

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FormatItem {
    Text(Vec<u8>),
    Spec(Spec),
}

/// One conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) left: bool,
    plus: bool,
    blank: bool,
    pub(super) alternate: bool,
    zero: bool,
    pub(super) width: Count,
    pub(super) precision: Count,
    pub(super) size: Size,
    pub(super) conversion: Conversion,
}

/// A width or precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Count {
    #[default]
    None,
    Fixed(usize),
    /// `*`: the next argument.
    Argument,
}

/// How wide an integer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Size {
    Char,
    Short,
    #[default]
    Int,
    /// `l` or `z`: as wide as the traced kernel's `long`.
    Long,
    LongLong,
}

/// What becomes of an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Conversion {
    #[default]
    Signed,
    Unsigned,
    Octal,
    Hex {
        upper: bool,
    },
    Char,
    Text,
    Pointer(Pointer),
}

/// The kernel's own kinds of `%p` (`Documentation/core-api/printk-formats.rst`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    Plain,
    /// `%ps`, and `%pS` with the distance from its start.
    Symbol {
        distance: bool,
    },
    /// `%pM`, `%pm`, `%pMF`, `%pMR`: what stands between the bytes.
    Mac {
        between: Option<u8>,
        reversed: bool,
    },
    Ip4 {
        leading_zeros: bool,
        host_order: Option<bool>,
    },
    Ip6 {
        short: bool,
        colons: bool,
    },
    /// `%pIS`: a `struct sockaddr`.
    SocketAddress {
        port: bool,
        colons: bool,
        short: bool,
    },
    Uuid {
        upper: bool,
        little: bool,
    },
    /// `%*ph`
    Bytes {
        between: Option<u8>,
    },
    /// `%*pb`, `%*pbl`
    Bitmap {
        list: bool,
    },
}

/// Longer ones are not written out: no line is that wide.
const WIDEST: usize = 4096;

/// Takes a format string apart; the error is what in it is not known.
pub(super) fn split(text: &[u8]) -> Result<Vec<FormatItem>, String> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match (byte, text.get(at)) {
            (b'%', Some(b'%')) => {
                plain.push(b'%');
                at += 1;
            }
            (b'%', _) => {
                if !plain.is_empty() {
                    parts.push(FormatItem::Text(std::mem::take(&mut plain)));
                }
                let (spec, length) = spec(&text[at..])?;
                parts.push(FormatItem::Spec(spec));
                at += length;
            }
            _ => plain.push(byte),
        }
    }
    if !plain.is_empty() {
        parts.push(FormatItem::Text(plain));
    }
    Ok(parts)
}

/// The conversion behind a `%`, and how long it is.
fn spec(text: &[u8]) -> Result<(Spec, usize), String> {
    let mut spec = Spec::default();
    let mut at = 0;
    loop {
        match text.get(at) {
            Some(b'-') => spec.left = true,
            Some(b'+') => spec.plus = true,
            Some(b' ') => spec.blank = true,
            Some(b'#') => spec.alternate = true,
            Some(b'0') => spec.zero = true,
            _ => break,
        }
        at += 1;
    }
    spec.width = count(text, &mut at);
    if text.get(at) == Some(&b'.') {
        at += 1;
        spec.precision = match count(text, &mut at) {
            Count::None => Count::Fixed(0),
            count => count,
        };
    }
    loop {
        spec.size = match (text.get(at), spec.size) {
            (Some(b'h'), Size::Short) => Size::Char,
            (Some(b'h'), _) => Size::Short,
            (Some(b'l'), Size::Long) => Size::LongLong,
            (Some(b'l' | b'z' | b'Z' | b't'), _) => Size::Long,
            (Some(b'L' | b'q' | b'j'), _) => Size::LongLong,
            _ => break,
        };
        at += 1;
    }
    let &letter = text.get(at).ok_or("a `%` has no conversion")?;
    at += 1;
    spec.conversion = match letter {
        b'd' | b'i' => Conversion::Signed,
        b'u' => Conversion::Unsigned,
        b'o' => Conversion::Octal,
        b'x' => Conversion::Hex { upper: false },
        b'X' => Conversion::Hex { upper: true },
        b'c' => Conversion::Char,
        b's' => Conversion::Text,
        b'p' => {
            let (pointer, length) = pointer(&text[at..]);
            at += length;
            Conversion::Pointer(pointer)
        }
        other => return Err(format!("`%{}` is not known", other.escape_ascii())),
    };
    Ok((spec, at))
}

fn count(text: &[u8], at: &mut usize) -> Count {
    if text.get(*at) == Some(&b'*') {
        *at += 1;
        return Count::Argument;
    }
    let start = *at;
    let mut number = 0usize;
    while let Some(digit @ b'0'..=b'9') = text.get(*at) {
        number = (number * 10 + usize::from(digit - b'0')).min(WIDEST);
        *at += 1;
    }
    if *at > start { Count::Fixed(number) } else { Count::None }
}

/// The letters behind a `%p`, and how many they are.
fn pointer(text: &[u8]) -> (Pointer, usize) {
    let letter = |at: usize| text.get(at).copied().unwrap_or(0);
    match letter(0) {
        b'S' | b'B' | b'F' => match letter(1) {
            b'R' | b'b' => (Pointer::Symbol { distance: true }, 2),
            _ => (Pointer::Symbol { distance: true }, 1),
        },
        b's' => (Pointer::Symbol { distance: false }, 1),
        // Since 5.5 `%pfw` is a firmware node; before, `%pf` was a function.
        b'f' if letter(1) != b'w' => (Pointer::Symbol { distance: false }, 1),
        b'M' => match letter(1) {
            b'F' => (Pointer::Mac { between: Some(b'-'), reversed: false }, 2),
            b'R' => (Pointer::Mac { between: Some(b':'), reversed: true }, 2),
            _ => (Pointer::Mac { between: Some(b':'), reversed: false }, 1),
        },
        b'm' => match letter(1) {
            b'R' => (Pointer::Mac { between: None, reversed: true }, 2),
            _ => (Pointer::Mac { between: None, reversed: false }, 1),
        },
        kind @ (b'I' | b'i') => match letter(1) {
            b'4' => {
                let (host_order, length) = order(letter(2), 2);
                (Pointer::Ip4 { leading_zeros: kind == b'i', host_order }, length)
            }
            b'6' => {
                let short = letter(2) == b'c';
                (Pointer::Ip6 { short, colons: kind == b'I' }, 2 + usize::from(short))
            }
            b'S' => {
                let mut at = 2;
                let (mut port, mut short) = (false, false);
                while let more @ (b'p' | b'f' | b's' | b'c' | b'h' | b'n' | b'b' | b'l') = letter(at) {
                    port |= more == b'p';
                    short |= more == b'c';
                    at += 1;
                }
                (Pointer::SocketAddress { port, colons: kind == b'I', short }, at)
            }
            _ => (Pointer::Plain, 1),
        },
        b'U' => match letter(1) {
            b'b' => (Pointer::Uuid { upper: false, little: false }, 2),
            b'B' => (Pointer::Uuid { upper: true, little: false }, 2),
            b'l' => (Pointer::Uuid { upper: false, little: true }, 2),
            b'L' => (Pointer::Uuid { upper: true, little: true }, 2),
            _ => (Pointer::Uuid { upper: false, little: false }, 1),
        },
        b'h' => match letter(1) {
            b'C' => (Pointer::Bytes { between: Some(b':') }, 2),
            b'D' => (Pointer::Bytes { between: Some(b'-') }, 2),
            b'N' => (Pointer::Bytes { between: None }, 2),
            _ => (Pointer::Bytes { between: Some(b' ') }, 1),
        },
        b'b' => match letter(1) {
            b'l' => (Pointer::Bitmap { list: true }, 2),
            _ => (Pointer::Bitmap { list: false }, 1),
        },
        // All others are printed as the address: what they would show is in the kernel's memory.
        letter if letter.is_ascii_alphanumeric() => {
            (Pointer::Plain, text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count())
        }
        _ => (Pointer::Plain, 0),
    }
}

/// The byte order behind `%pI4`: `None` for the network's.
fn order(letter: u8, at: usize) -> (Option<bool>, usize) {
    match letter {
        b'h' => (Some(true), at + 1),
        b'l' => (Some(false), at + 1),
        b'n' | b'b' => (None, at + 1),
        _ => (None, at),
    }
}

impl Size {
    /// The integer type of a conversion.
    pub(super) fn ty(self, signed: bool, long_size: usize) -> Ty {
        let bytes = match self {
            Size::Char => 1,
            Size::Short => 2,
            Size::Int => 4,
            Size::Long => long_size as u8,
            Size::LongLong => 8,
        };
        Ty { bytes, signed }
    }
}

/// Width and precision of a conversion, once they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) width: usize,
    pub(super) left: bool,
    pub(super) precision: Option<usize>,
}

impl Room {
    /// From the value of a `*` argument; a negative width is one on the left.
    pub(super) fn new(spec: &Spec, width: Option<i64>, precision: Option<i64>) -> Room {
        let fixed = |count| if let Count::Fixed(number) = count { Some(number) } else { None };
        let size = |value: i64| usize::try_from(value.unsigned_abs()).unwrap_or(WIDEST).min(WIDEST);
        Room {
            width: width.map(size).or(fixed(spec.width)).unwrap_or(0),
            left: spec.left || width.is_some_and(|width| width < 0),
            precision: match precision {
                Some(value) if value < 0 => None,
                Some(value) => Some(size(value)),
                None => fixed(spec.precision),
            },
        }
    }

    /// Cuts the text that was written from `start` on, and fills it up.
    pub(super) fn fit(&self, out: &mut Vec<u8>, start: usize) {
        if let Some(precision) = self.precision {
            out.truncate(out.len().min(start.saturating_add(precision)));
        }
        self.pad(out, start);
    }

    /// Fills up with blanks what was written from `start` on.
    pub(super) fn pad(&self, out: &mut Vec<u8>, start: usize) {
        let missing = self.width.saturating_sub(out.len() - start);
        out.resize(out.len() + missing, b' ');
        if !self.left && missing > 0 {
            out[start..].rotate_right(missing);
        }
    }
}

impl Spec {
    /// Writes an integer. `zero_has_prefix`: the kernel's own `%#x` shows 0 as `0x0`.
    pub(super) fn number(
        &self,
        value: Value,
        long_size: usize,
        room: Room,
        zero_has_prefix: bool,
        out: &mut Vec<u8>,
    ) {
        let signed = self.conversion == Conversion::Signed;
        let bits = value.to(self.size.ty(signed, long_size)).bits;
        let negative = signed && (bits as i64) < 0;
        let magnitude = if negative { bits.wrapping_neg() } else { bits };
        let (radix, upper) = match self.conversion {
            Conversion::Hex { upper } => (16, upper),
            Conversion::Octal => (8, false),
            _ => (10, false),
        };
        let mut digits = [0u8; 24];
        let mut first = digits.len();
        let mut rest = magnitude;
        while rest > 0 || first == digits.len() {
            first -= 1;
            let digit = (rest % radix) as u8;
            digits[first] = match digit {
                0..=9 => b'0' + digit,
                _ if upper => b'A' + digit - 10,
                _ => b'a' + digit - 10,
            };
            rest /= radix;
        }
        let digits = &digits[first..];
        let prefix: &[u8] =
            match self.conversion {
                Conversion::Signed if negative => b"-",
                Conversion::Signed if self.plus => b"+",
                Conversion::Signed if self.blank => b" ",
                Conversion::Hex { upper } if self.alternate && (magnitude != 0 || zero_has_prefix) => {
                    if upper { b"0X" } else { b"0x" }
                }
                Conversion::Octal if self.alternate && magnitude != 0 => b"0",
                _ => b"",
            };
        let start = out.len();
        out.extend(prefix);
        let least = match room.precision {
            Some(precision) => precision,
            None if self.zero && !room.left => room.width.saturating_sub(prefix.len()),
            None => 1,
        };
        out.resize(out.len() + least.saturating_sub(digits.len()), b'0');
        if !(room.precision == Some(0) && magnitude == 0) {
            out.extend(digits);
        }
        room.pad(out, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Spec {
        match &split(text.as_bytes()).expect(text)[..] {
            [FormatItem::Spec(spec)] => *spec,
            parts => panic!("{text}: {parts:?}"),
        }
    }

    fn number(format: &str, value: i64) -> String {
        let spec = one(format);
        let mut out = Vec::new();
        let room = Room::new(&spec, None, None);
        spec.number(Value::new(value as u64, Ty::signed(8)), 8, room, false, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn numbers_as_c_prints_them() {
        for (format, value, text) in [
            ("%d", -5, "-5"),
            ("%u", -5, "4294967291"),
            ("%llu", -5, "18446744073709551611"),
            ("%ld", -5, "-5"),
            ("%hhx", 0x1ff, "ff"),
            ("%hd", 0x1_8000, "-32768"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d", -42, "-0042"),
            ("%08lx", 0xbeef, "0000beef"),
            ("%#x", 0xbeef, "0xbeef"),
            ("%#X", 0xbeef, "0XBEEF"),
            ("%#x", 0, "0"),
            ("%#010x", 0xbeef, "0x0000beef"),
            ("%.3d", 5, "005"),
            ("%8.3d", -5, "    -005"),
            ("%08.3d", 5, "     005"),
            ("%+d", 5, "+5"),
            ("% d", 5, " 5"),
            ("%#o", 8, "010"),
            ("%.0d", 0, ""),
            ("%zu", 7, "7"),
        ] {
            let format = format.trim_end_matches('|');
            assert_eq!(number(format, value), text.trim_end_matches('|'), "{format} of {value}");
        }
    }

    #[test]
    fn the_kernels_pointers() {
        for (text, pointer) in [
            ("%p", Pointer::Plain),
            ("%px", Pointer::Plain),
            ("%pK", Pointer::Plain),
            ("%pS", Pointer::Symbol { distance: true }),
            ("%ps", Pointer::Symbol { distance: false }),
            ("%pf", Pointer::Symbol { distance: false }),
            ("%pfw", Pointer::Plain),
            ("%pMF", Pointer::Mac { between: Some(b'-'), reversed: false }),
            ("%pI4", Pointer::Ip4 { leading_zeros: false, host_order: None }),
            ("%pI6c", Pointer::Ip6 { short: true, colons: true }),
            ("%pISpfc", Pointer::SocketAddress { port: true, colons: true, short: true }),
            ("%pUl", Pointer::Uuid { upper: false, little: true }),
            ("%*pbl", Pointer::Bitmap { list: true }),
            ("%*phN", Pointer::Bytes { between: None }),
        ] {
            assert_eq!(one(text).conversion, Conversion::Pointer(pointer), "{text}");
        }
        assert_eq!(split(b"%pS.").expect("parts").len(), 2);
    }

    #[test]
    fn text_between_and_what_is_not_known() {
        let parts = split(b"a=%d%% b").expect("parts");
        assert_eq!(parts[0], FormatItem::Text(b"a=".to_vec()));
        assert_eq!(parts[2], FormatItem::Text(b"% b".to_vec()));
        for bad in ["%", "%ll", "%k", "50%"] {
            assert!(split(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn room_for_text() {
        for (width, left, precision, text) in [
            (0, false, None, "comm"),
            (6, false, None, "  comm"),
            (6, true, None, "comm  "),
            (6, false, Some(2), "    co"),
        ] {
            let mut out = b"x".to_vec();
            out.extend(b"comm");
            Room { width, left, precision }.fit(&mut out, 1);
            assert_eq!(out[1..], *text.as_bytes());
        }
    }
}
