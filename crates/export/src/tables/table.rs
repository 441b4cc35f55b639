//! One table on its way: rows are gathered by column, and written a group of rows at a time.

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group: what is held in memory.
const GROUP: usize = 1 << 16;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// 64-bit integers.
    Int,
    /// 64-bit floating point.
    Float,
    /// UTF-8 text.
    Text,
}

/// A value for one column of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
}

impl Cell {
    pub(super) fn text(text: impl ToString) -> Cell {
        Cell::Text(text.to_string())
    }

    pub(super) fn int(number: impl Into<i64>) -> Cell {
        Cell::Int(number.into())
    }

    pub(super) fn option<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
        value.map_or(Cell::Null, cell)
    }
}

/// The values of a column that are not null, and for each row whether it has one.
#[derive(Default)]
struct Column {
    ints: Vec<i64>,
    floats: Vec<f64>,
    texts: Vec<ByteArray>,
    defined: Vec<i16>,
}

/// A table being written to a file.
pub(super) struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    holds: &'static [(&'static str, Holds)],
    columns: Vec<Column>,
    rows: usize,
}

impl<W: Write + Send> Table<W> {
    pub(super) fn new(name: &str, holds: &'static [(&'static str, Holds)], out: W) -> io::Result<Table<W>> {
        let field = |&(name, holds): &(&str, Holds)| {
            let (physical, logical) = match holds {
                Holds::Int => (Physical::INT64, None),
                Holds::Float => (Physical::DOUBLE, None),
                Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            builder.with_logical_type(logical).build().map(Arc::new)
        };
        let fields = holds.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let schema = Type::group_type_builder(name).with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        let columns = holds.iter().map(|_| Column::default()).collect();
        Ok(Table { writer, holds, columns, rows: 0 })
    }

    /// Adds a row: a cell for each column, in order.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> io::Result<()> {
        let mut cells = cells.into_iter();
        for (column, (_, holds)) in self.columns.iter_mut().zip(self.holds) {
            let defined = match (holds, cells.next().unwrap_or(Cell::Null)) {
                (Holds::Int, Cell::Int(int)) => {
                    column.ints.push(int);
                    1
                }
                (Holds::Float, Cell::Float(float)) => {
                    column.floats.push(float);
                    1
                }
                (Holds::Text, Cell::Text(text)) => {
                    column.texts.push(ByteArray::from(text.into_bytes()));
                    1
                }
                (_, cell) => {
                    debug_assert_eq!(cell, Cell::Null, "a cell does not hold what its column does");
                    0
                }
            };
            column.defined.push(defined);
        }
        self.rows += 1;
        if self.rows == GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes what is left, and the file's end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.writer.close().map(drop).map_err(failed)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let Some(mut out) = group.next_column().map_err(failed)? else { break };
            let defined = Some(column.defined.as_slice());
            match out.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => writer.write_batch(&column.ints, defined, None),
                ColumnWriter::DoubleColumnWriter(writer) => writer.write_batch(&column.floats, defined, None),
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    writer.write_batch(&column.texts, defined, None)
                }
                _ => Err(ParquetError::General("a column of another type".to_owned())),
            }
            .map_err(failed)?;
            out.close().map_err(failed)?;
            *column = Column::default();
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
