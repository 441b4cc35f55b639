//! `trace_printk`: the format string stays in the kernel, its arguments follow each other in the record.

use super::Names;
use super::eval::Record;
use super::expr::{Expr, width};
use super::printf::{Conversion, Count, FormatItem, Pointer, Room, Size, Spec, split};
use super::text::{hex, put};
use super::value::{Ty, Value};
use crate::bytes::until_nul;
use crate::format::{EventFormat, ValueAt};

/// Where a `bprint` record has its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bprint {
    ip: Expr,
    format: Expr,
    /// Where the arguments begin.
    arguments: usize,
}

impl Bprint {
    pub(super) fn compile(format: &EventFormat, long_size: usize) -> Option<Bprint> {
        let int = |name| match super::parse::field_expr(format.field(name)?, long_size) {
            expression @ (Expr::Int { .. } | Expr::Pointer { .. }) => Some(expression),
            _ => None,
        };
        let arguments = format.field("buf").filter(|field| field.place == ValueAt::Here)?.offset;
        Some(Bprint { ip: int("ip")?, format: int("fmt")?, arguments })
    }

    /// Writes the calling function and its message; false where the message is not known.
    pub(super) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) -> bool {
        record.names.write_symbol(record.value(&self.ip).bits, false, out);
        out.extend(b": ");
        let address = record.value(&self.format).bits;
        let Some(text) = record.names.printk.get(&address) else {
            put!(out, "(NO FORMAT FOUND at {address:x})\n");
            return false;
        };
        let Ok(parts) = split(text) else {
            out.extend(&text[..]);
            return false;
        };
        let mut words = Words { record, at: self.arguments };
        for part in &parts {
            match part {
                FormatItem::Text(text) => out.extend(text),
                FormatItem::Spec(spec) => words.write(spec, out),
            }
        }
        true
    }
}

/// The arguments: integers aligned to their size and at most to 4 bytes, strings in place
/// (`vbin_printf`, `lib/vsprintf.c`; since 6.14 the narrow ones are widened, which a record does
/// not show).
struct Words<'r> {
    record: &'r Record<'r>,
    at: usize,
}

impl Words<'_> {
    fn number(&mut self, size: usize, signed: bool) -> Value {
        let align = size.min(4);
        self.at = self.at.next_multiple_of(align);
        let ty = Ty { bytes: width(size), signed };
        let bits = self.record.endian.int(self.record.bytes, self.at, size, signed).unwrap_or(0);
        self.at = self.at.saturating_add(size).min(self.record.bytes.len());
        Value { bits: bits as u64, ty }
    }

    fn text(&mut self) -> &[u8] {
        let rest = self.record.bytes.get(self.at..).unwrap_or_default();
        let text = until_nul(rest);
        self.at = (self.at + text.len() + 1).min(self.record.bytes.len());
        text
    }

    fn write(&mut self, spec: &Spec, out: &mut Vec<u8>) {
        let names: &Names = self.record.names;
        let count =
            |words: &mut Self, count| (count == Count::Argument).then(|| words.number(4, true).bits as i64);
        let width = count(self, spec.width);
        let precision = count(self, spec.precision);
        let room = Room::new(spec, width, precision);
        let start = out.len();
        match spec.conversion {
            Conversion::Text => {
                out.extend(self.text());
                room.fit(out, start);
            }
            Conversion::Char => {
                let byte = self.number(1, false).bits as u8;
                out.push(byte);
                room.pad(out, start);
            }
            Conversion::Pointer(Pointer::Plain) => {
                let address = self.number(names.long_size, false).bits;
                names.write_address(address, out);
                room.pad(out, start);
            }
            Conversion::Pointer(Pointer::Symbol { distance }) => {
                let address = self.number(names.long_size, false).bits;
                names.write_symbol(address, distance, out);
                room.pad(out, start);
            }
            // The kernel writes out what these show: 5.0 and later put the text into the record,
            // before that an address.
            Conversion::Pointer(_) => {
                match self.record.bytes.get(self.at) {
                    Some(b' '..=b'~') => out.extend(self.text()),
                    _ => hex(out, self.number(names.long_size, false).bits),
                }
                room.pad(out, start);
            }
            conversion => {
                let size = match spec.size {
                    Size::Char => 1,
                    Size::Short => 2,
                    Size::Int => 4,
                    Size::Long => names.long_size,
                    Size::LongLong => 8,
                };
                let value = self.number(size, conversion == Conversion::Signed);
                names.write_number(spec, value, room, out);
            }
        }
    }
}
