//! The value of an argument in one record.

use super::Names;
use super::calls::Calls;
use super::expr::{Expr, Slot};
use super::value::{Binary, Ty, Value};
use crate::bytes::Endian;
use whylate_base::Cpu;

/// A record at hand, and what its numbers may point at.
#[derive(Clone, Copy)]
pub(super) struct Record<'r> {
    pub(super) bytes: &'r [u8],
    pub(super) endian: Endian,
    pub(super) names: &'r Names,
    pub(super) cpu: Cpu,
    pub(super) calls: &'r Calls,
}

impl<'r> Record<'r> {
    /// The integer of an argument; what lies outside the record is 0.
    pub(super) fn value(&self, expression: &Expr) -> Value {
        match expression {
            Expr::Value(value) => *value,
            Expr::Int { offset, ty } | Expr::Pointer { offset, ty } => self.read(self.bytes, *offset, *ty),
            Expr::Element { of, index, ty } => {
                let index = self.value(index).bits.checked_mul(u64::from(ty.bytes));
                let at = index.and_then(|at| usize::try_from(at).ok());
                at.map_or(Value::new(0, *ty), |at| self.read(self.at(of).unwrap_or_default(), at, *ty))
            }
            Expr::Cast(ty, of) => self.value(of).to(*ty),
            Expr::Truth(of) => Value::new(u64::from(self.value(of).is_true()), Ty::U8),
            Expr::Not(of) => Value::int(i64::from(!self.value(of).is_true())),
            Expr::Negate(of) => self.value(of).negated(),
            Expr::Invert(of) => self.value(of).inverted(),
            Expr::Binary(operator, left, right) => {
                let left = self.value(left);
                // C does not look at the right side where the left decides.
                match (operator, left.is_true()) {
                    (Binary::AndAlso, false) => Value::int(0),
                    (Binary::OrElse, true) => Value::int(1),
                    _ => left.with(*operator, self.value(right)),
                }
            }
            Expr::Choose(parts) => self.value(self.chosen(parts)),
            Expr::Length(slot) => Value::int(self.slot(slot).map_or(0, <[u8]>::len) as i64),
            _ => Value::new(0, Ty::U64),
        }
    }

    pub(super) fn chosen<'e>(&self, parts: &'e [Expr; 3]) -> &'e Expr {
        match self.value(&parts[0]).is_true() {
            true => &parts[1],
            false => &parts[2],
        }
    }

    /// The bytes an argument stands for, to the end of what is known to belong to them.
    pub(super) fn at(&self, expression: &Expr) -> Option<&'r [u8]> {
        match expression {
            Expr::Bytes(slot) => self.slot(slot),
            Expr::Skip { of, by, element } => {
                let by = self.value(by).bits.checked_mul(u64::from(element.bytes))?;
                self.at(of)?.get(usize::try_from(by).ok()?..)
            }
            Expr::Choose(parts) => self.at(self.chosen(parts)),
            Expr::Cast(_, of) => self.at(of),
            _ => None,
        }
    }

    pub(super) fn slot(&self, slot: &Slot) -> Option<&'r [u8]> {
        slot.bytes(self.endian, self.bytes)
    }

    fn read(&self, bytes: &[u8], at: usize, ty: Ty) -> Value {
        let bits = self.endian.int(bytes, at, usize::from(ty.bytes), ty.signed).unwrap_or(0);
        Value { bits: bits as u64, ty }
    }
}

/// The value of an argument that has no part of a record in it.
pub(super) fn constant(expression: &Expr) -> Option<Value> {
    Some(match expression {
        Expr::Value(value) => *value,
        Expr::Cast(ty, of) => constant(of)?.to(*ty),
        Expr::Truth(of) => Value::new(u64::from(constant(of)?.is_true()), Ty::U8),
        Expr::Not(of) => Value::int(i64::from(!constant(of)?.is_true())),
        Expr::Negate(of) => constant(of)?.negated(),
        Expr::Invert(of) => constant(of)?.inverted(),
        Expr::Binary(operator, left, right) => constant(left)?.with(*operator, constant(right)?),
        Expr::Choose(parts) => match constant(&parts[0])?.is_true() {
            true => constant(&parts[1])?,
            false => constant(&parts[2])?,
        },
        _ => return None,
    })
}
