//! A compiled `print fmt`: pieces of text and conversions with their arguments.

use super::eval::Record;
use super::expr::{Constant, Expr, Slot};
use super::parse::{Parsed, parse};
use super::printf::{Conversion, Count, FormatItem, Room, Spec, split};
use super::{Mode, Names};
use crate::format::{EventFormat, ValueAt};

/// What a `print fmt` line compiles to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pieces: Vec<Piece>,
    /// A record shorter than this lacks a field that is shown.
    shortest: usize,
    /// Why some arguments are not understood.
    pub(super) unknown: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Item { spec: Spec, width: Option<Expr>, precision: Option<Expr>, argument: Expr },
}

impl Format {
    /// Compiles the line; the error has the part that was not understood.
    pub(super) fn compile(format: &EventFormat, long_size: usize) -> Result<Format, String> {
        let Parsed { text, arguments, unknown } = parse(format, long_size)?;
        let mut arguments = arguments.into_iter();
        let mut next = || arguments.next().ok_or("an argument is missing");
        let mut pieces = Vec::new();
        for part in split(&text)? {
            let spec = match part {
                FormatItem::Text(text) => {
                    pieces.push(Piece::Text(text));
                    continue;
                }
                FormatItem::Spec(spec) => spec,
            };
            let width = if spec.width == Count::Argument { Some(next()?) } else { None };
            let precision = if spec.precision == Count::Argument { Some(next()?) } else { None };
            pieces.push(Piece::Item { spec, width, precision, argument: next()? });
        }
        let shortest = pieces.iter().map(Piece::reach).max().unwrap_or(0);
        Ok(Format { pieces, shortest, unknown })
    }

    /// The table of flags that the integer at `offset` is shown with.
    pub(super) fn flags_of(&self, offset: usize) -> Option<&[Constant]> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Item { argument, .. } => flags_of(argument, offset),
            Piece::Text(_) => None,
        })
    }

    /// Writes one record; false where it is too short to have all its fields.
    pub(super) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) -> bool {
        if record.bytes.len() < self.shortest {
            return false;
        }
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend(text),
                Piece::Item { spec, width, precision, argument } => {
                    let number = |count: &Option<Expr>| {
                        count.as_ref().map(|count| i64::from(record.value(count).bits as i32))
                    };
                    let (width, precision) = (number(width), number(precision));
                    record.write_item(spec, width, precision, argument, out);
                }
            }
        }
        true
    }
}

impl Record<'_> {
    fn write_item(
        &self,
        spec: &Spec,
        width: Option<i64>,
        precision: Option<i64>,
        argument: &Expr,
        out: &mut Vec<u8>,
    ) {
        let room = Room::new(spec, width, precision);
        let start = out.len();
        match spec.conversion {
            _ if *argument == Expr::Unknown => {
                out.push(b'?');
                room.pad(out, start);
            }
            Conversion::Text => {
                self.write_text(argument, out);
                room.fit(out, start);
            }
            Conversion::Char => {
                self.write_char(argument, out);
                room.pad(out, start);
            }
            Conversion::Pointer(pointer) => self.write_pointer(pointer, argument, room, width, out),
            _ => self.names.write_number(spec, self.value(argument), room, out),
        }
    }
}

impl Names {
    pub(super) fn write_number(
        &self,
        spec: &Spec,
        value: super::value::Value,
        room: Room,
        out: &mut Vec<u8>,
    ) {
        spec.number(value, self.long_size, room, self.mode == Mode::Kernel, out);
    }
}

impl Piece {
    fn reach(&self) -> usize {
        match self {
            Piece::Text(_) => 0,
            Piece::Item { width, precision, argument, .. } => {
                [width.as_ref(), precision.as_ref(), Some(argument)]
                    .into_iter()
                    .flatten()
                    .map(reach)
                    .max()
                    .unwrap_or(0)
            }
        }
    }
}

fn flags_of(expression: &Expr, offset: usize) -> Option<&[Constant]> {
    match expression {
        Expr::Flags { value, entries, .. } => is_of(value, offset).then_some(entries),
        Expr::Choose(parts) => parts.iter().find_map(|part| flags_of(part, offset)),
        _ => None,
    }
}

/// Whether a value is the integer at `offset`, or that with a mask.
fn is_of(value: &Expr, offset: usize) -> bool {
    match value {
        Expr::Int { offset: at, .. } | Expr::Pointer { offset: at, .. } => *at == offset,
        Expr::Cast(_, of) => is_of(of, offset),
        Expr::Binary(_, left, right) => is_of(left, offset) || is_of(right, offset),
        _ => false,
    }
}

/// Where the last byte ends that an argument is sure to read.
fn reach(expression: &Expr) -> usize {
    let of_slot = |slot: &Slot| match slot.place {
        ValueAt::Here => slot.offset.saturating_add(slot.size),
        _ => slot.offset.saturating_add(4),
    };
    match expression {
        Expr::Value(_) | Expr::Text(_) | Expr::Unknown => 0,
        Expr::Int { offset, ty } | Expr::Pointer { offset, ty } => {
            offset.saturating_add(usize::from(ty.bytes))
        }
        Expr::Bytes(slot)
        | Expr::Length(slot)
        | Expr::Mask { of: slot, .. }
        | Expr::AllNumbers { of: slot, .. } => of_slot(slot),
        Expr::Skip { of, by, .. } => reach(of).max(reach(by)),
        Expr::Element { of, index, .. } => reach(of).max(reach(index)),
        Expr::Cast(_, of)
        | Expr::Truth(of)
        | Expr::Not(of)
        | Expr::Negate(of)
        | Expr::Invert(of)
        | Expr::Flags { value: of, .. }
        | Expr::Symbol { value: of, .. } => reach(of),
        Expr::Binary(_, left, right) => reach(left).max(reach(right)),
        Expr::Choose(parts) => parts.iter().map(reach).max().unwrap_or(0),
        Expr::Hex { of, length, .. } => reach(of).max(reach(length)),
        Expr::Numbers { of, count, size } => reach(of).max(reach(count)).max(reach(size)),
    }
}
