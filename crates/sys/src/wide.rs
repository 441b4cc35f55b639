//! Numbers of the C library that are shorter on 32-bit machines.

/// A time, or a long, in 64 bits.
pub(crate) fn wide(number: impl Into<i64>) -> i64 {
    number.into()
}
