//! Integers as C has them: with a size and a sign.

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ty {
    /// 1, 2, 4 or 8.
    pub(super) bytes: u8,
    pub(super) signed: bool,
}

impl Ty {
    pub(super) const INT: Ty = Ty::signed(4);
    pub(super) const U8: Ty = Ty::unsigned(1);
    pub(super) const U64: Ty = Ty::unsigned(8);

    pub(super) const fn signed(bytes: u8) -> Ty {
        Ty { bytes, signed: true }
    }

    pub(super) const fn unsigned(bytes: u8) -> Ty {
        Ty { bytes, signed: false }
    }

    /// The type that operands of less than an `int` are widened to.
    fn promoted(self) -> Ty {
        if self.bytes < 4 { Ty::INT } else { self }
    }

    /// The type that an operation on both is done in.
    fn common(self, other: Ty) -> Ty {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bytes.cmp(&b.bytes) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal => Ty { bytes: a.bytes, signed: a.signed && b.signed },
        }
    }
}

/// An integer: `bits` widened to 64 with its type's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) bits: u64,
    pub(super) ty: Ty,
}

/// The operators between two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
    AndAlso,
    OrElse,
}

impl Value {
    /// `bits` cut down to the type.
    pub(super) fn new(bits: u64, ty: Ty) -> Value {
        let bits = match (ty.bytes, ty.signed) {
            (1, false) => u64::from(bits as u8),
            (1, true) => i64::from(bits as i8) as u64,
            (2, false) => u64::from(bits as u16),
            (2, true) => i64::from(bits as i16) as u64,
            (4, false) => u64::from(bits as u32),
            (4, true) => i64::from(bits as i32) as u64,
            _ => bits,
        };
        Value { bits, ty }
    }

    pub(super) fn int(value: i64) -> Value {
        Value::new(value as u64, Ty::INT)
    }

    pub(super) fn is_true(self) -> bool {
        self.bits != 0
    }

    pub(super) fn to(self, ty: Ty) -> Value {
        Value::new(self.bits, ty)
    }

    pub(super) fn negated(self) -> Value {
        Value::new(self.bits.wrapping_neg(), self.ty.promoted())
    }

    pub(super) fn inverted(self) -> Value {
        Value::new(!self.bits, self.ty.promoted())
    }

    /// The operation as C defines it; what C leaves open (a division by zero, a shift past the
    /// width) gives 0.
    pub(super) fn with(self, operator: Binary, other: Value) -> Value {
        let truth = |truth: bool| Value::int(i64::from(truth));
        match operator {
            Binary::AndAlso => return truth(self.is_true() && other.is_true()),
            Binary::OrElse => return truth(self.is_true() || other.is_true()),
            Binary::Shl | Binary::Shr => return self.shifted(operator, other.bits),
            _ => {}
        }
        let ty = self.ty.common(other.ty);
        let (a, b) = (self.to(ty).bits, other.to(ty).bits);
        let (sa, sb) = (a as i64, b as i64);
        let order = if ty.signed { sa.cmp(&sb) } else { a.cmp(&b) };
        let bits = match operator {
            Binary::Mul => a.wrapping_mul(b),
            Binary::Div if ty.signed => sa.checked_div(sb).unwrap_or(0) as u64,
            Binary::Div => a.checked_div(b).unwrap_or(0),
            Binary::Rem if ty.signed => sa.checked_rem(sb).unwrap_or(0) as u64,
            Binary::Rem => a.checked_rem(b).unwrap_or(0),
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::And => a & b,
            Binary::Xor => a ^ b,
            Binary::Or => a | b,
            Binary::Less => return truth(order.is_lt()),
            Binary::LessEqual => return truth(order.is_le()),
            Binary::Greater => return truth(order.is_gt()),
            Binary::GreaterEqual => return truth(order.is_ge()),
            Binary::Equal => return truth(order.is_eq()),
            _ => return truth(order.is_ne()),
        };
        Value::new(bits, ty)
    }

    fn shifted(self, operator: Binary, by: u64) -> Value {
        let ty = self.ty.promoted();
        let by = u32::try_from(by).unwrap_or(u32::MAX);
        let bits = match operator {
            _ if by >= u32::from(ty.bytes) * 8 => 0,
            Binary::Shl => self.bits << by,
            _ if ty.signed => ((self.bits as i64) >> by) as u64,
            _ => self.bits >> by,
        };
        Value::new(bits, ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_signs_are_c_s() {
        let u32_max = Value::new(u64::MAX, Ty::unsigned(4));
        let minus_one = Value::int(-1);
        let one = Value::int(1);
        let cases = [
            // An int meets an unsigned int as unsigned, a u16 as int.
            (u32_max, Binary::Equal, minus_one, 1),
            (Value::new(0xffff, Ty::unsigned(2)), Binary::Equal, minus_one, 0),
            (minus_one, Binary::Less, one, 1),
            (minus_one, Binary::Less, Value::new(1, Ty::unsigned(4)), 0),
            (minus_one, Binary::Greater, Value::new(1, Ty::U64), 1),
            (u32_max, Binary::Add, one, 0),
            (Value::new(0x1_0000_0000, Ty::U64), Binary::Sub, one, 0xffff_ffff),
            (Value::int(-7), Binary::Div, Value::int(2), -3i64 as u64),
            (Value::int(-7), Binary::Rem, Value::int(2), -1i64 as u64),
            (Value::int(7), Binary::Div, Value::int(0), 0),
            (Value::int(7), Binary::Rem, Value::int(0), 0),
            (Value::new(1 << 63, Ty::signed(8)), Binary::Div, minus_one, 0),
            (one, Binary::Shl, Value::int(31), i64::from(i32::MIN) as u64),
            (one, Binary::Shl, Value::int(32), 0),
            (Value::int(-8), Binary::Shr, one, -4i64 as u64),
            (u32_max, Binary::Shr, Value::int(28), 15),
            (one, Binary::Shl, minus_one, 0),
            (one, Binary::AndAlso, Value::int(0), 0),
            (one, Binary::OrElse, Value::int(0), 1),
            (Value::int(6), Binary::Xor, Value::int(3), 5),
        ];
        for (a, operator, b, expected) in cases {
            assert_eq!(a.with(operator, b).bits, expected, "{a:?} {operator:?} {b:?}");
        }
        assert_eq!(Value::new(0x80, Ty::signed(1)).negated(), Value::int(128));
        assert_eq!(Value::new(0, Ty::U8).inverted(), minus_one);
    }
}
