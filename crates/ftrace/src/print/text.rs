//! Arguments as text: strings, flags, symbols, arrays and masks.

use super::Mode;
use super::eval::Record;
use super::expr::{Constant, Expr};
use super::value::Ty;
use crate::bytes::{Endian, until_nul};

/// Numbers of an array that are written out; no record is longer.
const MOST_ELEMENTS: usize = 65536;

impl Record<'_> {
    /// Writes an argument of `%s`.
    pub(super) fn write_text(&self, expression: &Expr, out: &mut Vec<u8>) {
        match expression {
            Expr::Text(text) => out.extend(text),
            Expr::Bytes(_) | Expr::Skip { .. } => {
                out.extend(until_nul(self.at(expression).unwrap_or_default()));
            }
            Expr::Pointer { .. } | Expr::Int { .. } | Expr::Element { .. } => {
                let address = self.value(expression).bits;
                match self.names.printk.get(&address) {
                    Some(text) => out.extend(&text[..]),
                    None => hex(out, address),
                }
            }
            Expr::Value(value) if value.bits == 0 => out.extend(b"(null)"),
            Expr::Value(value) => hex(out, value.bits),
            Expr::Cast(_, of) | Expr::Truth(of) => self.write_text(of, out),
            Expr::Choose(parts) => self.write_text(self.chosen(parts), out),
            Expr::Flags { value, between, entries } => {
                self.write_flags(self.long(value), between, entries, out);
            }
            Expr::Symbol { value, entries } => {
                let value = self.long(value);
                match entries.iter().find(|entry| entry.value.map(|entry| self.cut(entry)) == Some(value)) {
                    Some(entry) => out.extend(&entry.text),
                    None => prefixed(out, value),
                }
            }
            Expr::Hex { of, length, blanks } => {
                let bytes = self.at(of).unwrap_or_default();
                let length = usize::try_from(self.value(length).bits).unwrap_or(usize::MAX);
                hex_bytes(&bytes[..length.min(bytes.len())], if *blanks { Some(b' ') } else { None }, out);
            }
            Expr::Numbers { of, count, size } => {
                let count = usize::try_from(self.value(count).bits).unwrap_or(usize::MAX);
                self.write_numbers(self.at(of).unwrap_or_default(), count, self.value(size).bits, out);
            }
            Expr::AllNumbers { of, size } => {
                self.write_numbers(self.slot(of).unwrap_or_default(), usize::MAX, self.value(size).bits, out);
            }
            Expr::Mask { of, list } => {
                let bytes = self.slot(of).unwrap_or_default();
                // tracefs shows CPU masks like all others; trace-cmd as lists.
                match *list && self.names.mode == Mode::TraceCmd {
                    true => mask_list(self.endian, bytes, bytes.len() * 8, out),
                    false => mask_hex(self.endian, bytes, bytes.len() * 8, out),
                }
            }
            Expr::Unknown => out.push(b'?'),
            Expr::Not(_) | Expr::Negate(_) | Expr::Invert(_) | Expr::Binary(..) | Expr::Length(_) => {
                hex(out, self.value(expression).bits);
            }
        }
    }

    /// The kernel's table functions take an `unsigned long`.
    fn long(&self, expression: &Expr) -> u64 {
        self.cut(self.value(expression).bits)
    }

    fn cut(&self, bits: u64) -> u64 {
        if self.names.long_size == 4 { u64::from(bits as u32) } else { bits }
    }

    fn write_flags(&self, mut value: u64, between: &[u8], entries: &[Constant], out: &mut Vec<u8>) {
        let start = out.len();
        for entry in entries {
            let Some(mask) = entry.value.map(|mask| self.cut(mask)) else { continue };
            if value == 0 {
                break;
            }
            if value & mask == mask {
                if out.len() > start {
                    out.extend(between);
                }
                out.extend(&entry.text);
                value &= !mask;
            }
        }
        if value != 0 {
            if out.len() > start {
                out.extend(between);
            }
            prefixed(out, value);
        }
    }

    fn write_numbers(&self, bytes: &[u8], count: usize, size: u64, out: &mut Vec<u8>) {
        // The kernel's array prints are braced and separated by commas, trace-cmd's by blanks.
        let (open, between, close): (&[u8], &[u8], &[u8]) = match self.names.mode {
            Mode::Kernel => (b"{", b",", b"}"),
            Mode::TraceCmd => (b"", b" ", b""),
        };
        out.extend(open);
        let width = match size {
            2 | 4 | 8 => size as usize,
            _ => 1,
        };
        let hexadecimal = self.names.mode == Mode::Kernel;
        for (index, element) in bytes.chunks_exact(width).take(count.min(MOST_ELEMENTS)).enumerate() {
            if index > 0 {
                out.extend(between);
            }
            let value = self.endian.int(element, 0, width, false).unwrap_or(0) as u64;
            match hexadecimal {
                true => prefixed(out, value),
                false => decimal(out, value),
            }
        }
        out.extend(close);
    }

    /// Writes one byte of a `%c`.
    pub(super) fn write_char(&self, expression: &Expr, out: &mut Vec<u8>) {
        out.push(self.value(expression).to(Ty::U8).bits as u8);
    }
}

/// Writing to memory cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut *$out, format_args!($($format)*));
    }};
}
pub(super) use put;

pub(super) fn decimal(out: &mut Vec<u8>, value: u64) {
    put!(out, "{value}");
}

pub(super) fn hex(out: &mut Vec<u8>, value: u64) {
    put!(out, "{value:x}");
}

pub(super) fn prefixed(out: &mut Vec<u8>, value: u64) {
    put!(out, "0x{value:x}");
}

/// Bytes in hexadecimal.
pub(super) fn hex_bytes(bytes: &[u8], between: Option<u8>, out: &mut Vec<u8>) {
    for (index, byte) in bytes.iter().enumerate() {
        if index > 0 {
            out.extend(between);
        }
        put!(out, "{byte:02x}");
    }
}

/// Byte `index` of a mask counted from its lowest bits; masks are arrays of the kernel's longs,
/// and what they hold is counted from their far end on a big-endian machine.
fn mask_byte(endian: Endian, mask: &[u8], index: usize) -> u8 {
    let at = match endian {
        Endian::Little => Some(index),
        Endian::Big => mask.len().checked_sub(index + 1),
    };
    at.and_then(|at| mask.get(at)).copied().unwrap_or(0)
}

/// `%*pb`: 32 bits at a time, the highest first.
pub(super) fn mask_hex(endian: Endian, mask: &[u8], bits: usize, out: &mut Vec<u8>) {
    let bits = bits.min(mask.len() * 8);
    let words = bits.div_ceil(32);
    for word in (0..words).rev() {
        let value = (0..4)
            .rev()
            .fold(0u32, |value, byte| value << 8 | u32::from(mask_byte(endian, mask, word * 4 + byte)));
        let of_this = (bits - word * 32).min(32);
        let value = if of_this == 32 { value } else { value & ((1 << of_this) - 1) };
        put!(out, "{value:0width$x}", width = of_this.div_ceil(4));
        if word > 0 {
            out.push(b',');
        }
    }
}

/// `%*pbl`: `0-3,8`.
pub(super) fn mask_list(endian: Endian, mask: &[u8], bits: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let bits = bits.min(mask.len() * 8);
    let is_set = |bit: usize| bit < bits && mask_byte(endian, mask, bit / 8) >> (bit % 8) & 1 == 1;
    let mut bit = 0;
    while bit < bits {
        if !is_set(bit) {
            bit += 1;
            continue;
        }
        let first = bit;
        while is_set(bit) {
            bit += 1;
        }
        if out.len() > start {
            out.push(b',');
        }
        match bit - 1 {
            last if last == first => put!(out, "{first}"),
            last => put!(out, "{first}-{last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn masks_in_both_byte_orders() {
        let little = [0x0f, 0x80, 0, 0, 0x01, 0, 0, 0];
        let mut big = little;
        big.reverse();
        for (endian, mask) in [(Endian::Little, little), (Endian::Big, big)] {
            assert_eq!(text(|out| mask_hex(endian, &mask, 64, out)), "00000001,0000800f");
            assert_eq!(text(|out| mask_hex(endian, &mask, 6, out)), "0f");
            assert_eq!(text(|out| mask_list(endian, &mask, 64, out)), "0-3,15,32");
            assert_eq!(text(|out| mask_list(endian, &mask, 3, out)), "0-2");
        }
        assert_eq!(text(|out| mask_list(Endian::Little, &[0xff], 8, out)), "0-7");
        assert_eq!(text(|out| mask_list(Endian::Little, &[], 8, out)), "");
        assert_eq!(text(|out| mask_hex(Endian::Little, &[], 8, out)), "");
    }
}
