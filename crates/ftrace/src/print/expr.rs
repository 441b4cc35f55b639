//! What the arguments of a `print fmt` compile to.

use super::value::{Binary, Ty, Value};
use crate::bytes::Endian;
use crate::format::{Field, ValueAt, located};

/// Bytes of a record: an array, a string, or anything that is looked at byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) offset: usize,
    /// 0: to the end of the record.
    pub(super) size: usize,
    pub(super) place: ValueAt,
    /// What an index counts.
    pub(super) element: Ty,
}

impl Slot {
    pub(super) fn of(field: &Field, long_size: usize) -> Slot {
        let element = match field.array {
            true => element_type(&field.type_name, long_size),
            false => Ty { bytes: width(field.size), signed: field.signed },
        };
        Slot { offset: field.offset, size: field.size, place: field.place, element }
    }

    /// `None` where they lie outside the record.
    pub(super) fn bytes<'r>(&self, endian: Endian, record: &'r [u8]) -> Option<&'r [u8]> {
        match self.place {
            ValueAt::Here if self.size == 0 => record.get(self.offset..),
            ValueAt::Here => record.get(self.offset..self.offset.checked_add(self.size)?),
            ValueAt::DataLoc => located(endian, record, self.offset, 0),
            ValueAt::RelLoc => located(endian, record, self.offset, self.offset.checked_add(4)?),
        }
    }
}

/// A constant with its text, of flags and symbols. A constant that is a name whose value the
/// kernel did not put in never matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) value: Option<u64>,
    pub(super) text: Vec<u8>,
}

/// An argument, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    Value(Value),
    Text(Vec<u8>),
    /// An integer of the record.
    Int {
        offset: usize,
        ty: Ty,
    },
    /// A pointer of the record, which may lead to a string of the kernel.
    Pointer {
        offset: usize,
        ty: Ty,
    },
    /// Bytes of the record; as a number 0, since their address is not known.
    Bytes(Slot),
    /// Bytes from a distance on: `bytes + 4`.
    Skip {
        of: Box<Expr>,
        by: Box<Expr>,
        element: Ty,
    },
    /// One integer among bytes: `bytes[3]`.
    Element {
        of: Box<Expr>,
        index: Box<Expr>,
        ty: Ty,
    },
    Cast(Ty, Box<Expr>),
    /// A cast to `bool`.
    Truth(Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Invert(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Choose(Box<[Expr; 3]>),
    /// The length of bytes that are not of a fixed size.
    Length(Slot),
    Flags {
        value: Box<Expr>,
        between: Vec<u8>,
        entries: Vec<Constant>,
    },
    Symbol {
        value: Box<Expr>,
        entries: Vec<Constant>,
    },
    Hex {
        of: Box<Expr>,
        length: Box<Expr>,
        blanks: bool,
    },
    Numbers {
        of: Box<Expr>,
        count: Box<Expr>,
        size: Box<Expr>,
    },
    /// All elements of an array that is not of a fixed size.
    AllNumbers {
        of: Slot,
        size: Box<Expr>,
    },
    Mask {
        of: Slot,
        list: bool,
    },
    /// What only the kernel knows.
    Unknown,
}

/// The integer type of a word of C; `None` where it is not known here.
pub(super) fn named_type(name: &str, long_size: usize) -> Option<Ty> {
    let long = long_size as u8;
    Some(match name {
        "char" | "s8" | "__s8" | "int8_t" => Ty::signed(1),
        "u8" | "__u8" | "uint8_t" | "u_char" | "bool" | "_Bool" => Ty::U8,
        "short" | "s16" | "__s16" | "int16_t" => Ty::signed(2),
        "u16" | "__u16" | "uint16_t" | "__le16" | "__be16" | "umode_t" | "__sum16" => Ty::unsigned(2),
        "int" | "s32" | "__s32" | "int32_t" | "pid_t" | "key_t" | "signed" => Ty::INT,
        "u32" | "__u32" | "uint32_t" | "__le32" | "__be32" | "unsigned" | "uint" | "dev_t" | "gfp_t"
        | "uid_t" | "gid_t" | "qid_t" | "projid_t" | "__wsum" => Ty::unsigned(4),
        "long" | "ssize_t" | "ptrdiff_t" | "intptr_t" => Ty::signed(long),
        "ulong" | "size_t" | "uintptr_t" | "pgoff_t" => Ty::unsigned(long),
        "s64" | "__s64" | "int64_t" | "loff_t" | "ktime_t" | "time64_t" => Ty::signed(8),
        "u64" | "__u64" | "uint64_t" | "__le64" | "__be64" | "sector_t" | "blkcnt_t" | "ino_t" => Ty::U64,
        _ => return None,
    })
}

/// The type of an array's elements, from the words of its declaration.
fn element_type(declaration: &str, long_size: usize) -> Ty {
    let declaration = declaration.split('[').next().unwrap_or_default();
    let words: Vec<&str> = declaration.split_whitespace().collect();
    if declaration.contains('*') {
        return Ty::unsigned(long_size as u8);
    }
    combined(&words, long_size).unwrap_or(Ty::U8)
}

/// The type that several words of C name together: `unsigned long long`, `const u8`.
pub(super) fn combined(words: &[&str], long_size: usize) -> Option<Ty> {
    let mut ty: Option<Ty> = None;
    let (mut longs, mut unsigned, mut signed) = (0, false, false);
    for &word in words {
        match word {
            "const" | "volatile" | "__user" | "__rcu" => {}
            "unsigned" => unsigned = true,
            "signed" => signed = true,
            "long" => longs += 1,
            // `long int` is a long, `short int` a short.
            "int" if longs > 0 || ty.is_some() => {}
            "struct" | "enum" | "union" => return None,
            _ => ty = Some(named_type(word, long_size)?),
        }
    }
    let ty = match (longs, ty) {
        (0, Some(ty)) => ty,
        (0, None) if unsigned || signed => Ty::INT,
        (0, None) => return None,
        (1, _) => Ty::signed(long_size as u8),
        _ => Ty::signed(8),
    };
    Some(if unsigned { Ty { signed: false, ..ty } } else { ty })
}

/// The width of an integer field; other sizes are read as a byte string's first byte.
pub(super) fn width(size: usize) -> u8 {
    match size {
        2 | 4 | 8 => size as u8,
        _ => 1,
    }
}
