//! A table as a Parquet file: zstd, statistics, the schema's version in the metadata.

use crate::batch::{Batch, BatchColumn, Data};
use crate::schema::{Holds, SCHEMA, SCHEMA_KEY, TABLE_KEY, Table, VERSION_KEY};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// A file that is being written.
pub(crate) struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetFile<W> {
    pub(crate) fn new(table: &'static Table, out: W) -> io::Result<ParquetFile<W>> {
        let entry = |key: &str, value: &str| KeyValue::new(key.to_owned(), Some(value.to_owned()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).map_err(failed)?))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_created_by(format!("whylate {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![
                entry(SCHEMA_KEY, SCHEMA),
                entry(TABLE_KEY, table.name),
                entry(VERSION_KEY, env!("CARGO_PKG_VERSION")),
            ]))
            .build();
        let schema = Arc::new(schema_of(table).map_err(failed)?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
        Ok(ParquetFile { writer })
    }

    /// Writes the file's end.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(failed)
    }

    /// Writes rows as a group.
    pub(crate) fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for BatchColumn { defined, data } in batch.columns() {
            let Some(mut out) = group.next_column().map_err(failed)? else { break };
            let levels: Vec<i16> = defined.iter().map(|&defined| i16::from(defined)).collect();
            let levels = Some(levels.as_slice());
            match (out.untyped(), data) {
                (ColumnWriter::Int64ColumnWriter(writer), Data::Ints(ints)) => {
                    writer.write_batch(ints, levels, None)
                }
                (ColumnWriter::DoubleColumnWriter(writer), Data::Floats(floats)) => {
                    writer.write_batch(floats, levels, None)
                }
                (ColumnWriter::BoolColumnWriter(writer), Data::Bools(bools)) => {
                    writer.write_batch(bools, levels, None)
                }
                (ColumnWriter::ByteArrayColumnWriter(writer), Data::Texts(bytes, ends)) => {
                    writer.write_batch(&texts(bytes, ends), levels, None)
                }
                _ => Err(ParquetError::General("a column of another type".to_owned())),
            }
            .map_err(failed)?;
            out.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

/// All share one buffer: no allocation for each.
fn texts(bytes: &[u8], ends: &[usize]) -> Vec<ByteArray> {
    let all = ByteArray::from(bytes.to_vec());
    let mut start = 0;
    let text = |&end: &usize| {
        let text = all.slice(start, end - start);
        start = end;
        text
    };
    ends.iter().map(text).collect()
}

fn schema_of(table: &Table) -> Result<Type, ParquetError> {
    let fields = table.columns.iter().map(|column| {
        let (physical, logical) = match column.holds {
            Holds::Int => (Physical::INT64, None),
            Holds::Float => (Physical::DOUBLE, None),
            Holds::Bool => (Physical::BOOLEAN, None),
            Holds::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder =
            Type::primitive_type_builder(column.name, physical).with_repetition(Repetition::OPTIONAL);
        builder.with_logical_type(logical).build().map(Arc::new)
    });
    Type::group_type_builder(table.name).with_fields(fields.collect::<Result<Vec<_>, _>>()?).build()
}

/// The system's error where there is one: a full disk is reported as such.
pub(crate) fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
