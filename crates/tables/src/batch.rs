//! Rows of one table, by column.

use crate::schema::{Holds, Table};
use std::borrow::Cow;

/// A value for one column of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Not known, or there is none.
    Null,
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(Cow<'a, str>),
}

impl From<i64> for Cell<'_> {
    fn from(value: i64) -> Self {
        Cell::Int(value)
    }
}

impl From<i32> for Cell<'_> {
    fn from(value: i32) -> Self {
        Cell::Int(value.into())
    }
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Cell::Int(value.into())
    }
}

/// Counts saturate: Parquet's widest integer is signed.
impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Cell::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        Cell::Float(value)
    }
}

impl From<bool> for Cell<'_> {
    fn from(value: bool) -> Self {
        Cell::Bool(value)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(value))
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(value: &'a String) -> Self {
        Cell::Text(Cow::Borrowed(value))
    }
}

impl From<String> for Cell<'_> {
    fn from(value: String) -> Self {
        Cell::Text(Cow::Owned(value))
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

/// The values of a column that are not null.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Integers.
    Ints(Vec<i64>),
    /// Floating-point numbers.
    Floats(Vec<f64>),
    /// True or false.
    Bools(Vec<bool>),
    /// Texts one after the other, and where each ends.
    Texts(Vec<u8>, Vec<usize>),
}

impl Data {
    fn of(holds: Holds) -> Data {
        match holds {
            Holds::Int => Data::Ints(Vec::new()),
            Holds::Float => Data::Floats(Vec::new()),
            Holds::Bool => Data::Bools(Vec::new()),
            Holds::Text => Data::Texts(Vec::new(), Vec::new()),
        }
    }

    /// The texts of a column of texts; none of another.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let (bytes, ends): (&[u8], &[usize]) = match self {
            Data::Texts(bytes, ends) => (bytes, ends),
            _ => (&[], &[]),
        };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, &end)| std::str::from_utf8(&bytes[start..end]).unwrap_or_default())
    }
}

/// A column of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchColumn {
    /// For each row, whether it has a value.
    pub defined: Vec<bool>,
    /// The values of those that have one.
    pub data: Data,
}

/// Rows of one table.
#[derive(Clone, Debug)]
pub struct Batch {
    table: &'static Table,
    columns: Vec<BatchColumn>,
    rows: usize,
}

impl Batch {
    /// Without rows.
    pub fn new(table: &'static Table) -> Batch {
        let column = |holds| BatchColumn { defined: Vec::new(), data: Data::of(holds) };
        Batch { table, columns: table.columns.iter().map(|one| column(one.holds)).collect(), rows: 0 }
    }

    /// Its table.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Its columns, in the table's order.
    pub fn columns(&self) -> &[BatchColumn] {
        &self.columns
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row: a cell for each column, in order; what is left out is null.
    pub fn push<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        let mut cells = cells.into_iter();
        for column in &mut self.columns {
            let is_defined = match (&mut column.data, cells.next().unwrap_or(Cell::Null)) {
                (Data::Ints(ints), Cell::Int(int)) => {
                    ints.push(int);
                    true
                }
                (Data::Floats(floats), Cell::Float(float)) => {
                    floats.push(float);
                    true
                }
                (Data::Bools(bools), Cell::Bool(bool)) => {
                    bools.push(bool);
                    true
                }
                (Data::Texts(bytes, ends), Cell::Text(text)) => {
                    bytes.extend_from_slice(text.as_bytes());
                    ends.push(bytes.len());
                    true
                }
                (_, cell) => {
                    debug_assert_eq!(cell, Cell::Null, "a cell does not hold what its column does");
                    false
                }
            };
            column.defined.push(is_defined);
        }
        debug_assert!(cells.next().is_none(), "{}: more cells than columns", self.table.name);
        self.rows += 1;
    }

    /// Takes its rows, and leaves none.
    pub fn take(&mut self) -> Batch {
        std::mem::replace(self, Batch::new(self.table))
    }
}
