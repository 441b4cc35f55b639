//! Tables read back: chosen columns of one file.

use crate::batch::{Batch, Cell};
use crate::error::TablesError;
use crate::schema::{SCHEMA, SCHEMA_KEY, TABLE_KEY, Table};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;

/// All rows of a file, in the table's own columns: one that the file lacks is null, one of a later whylate is left out.
///
/// # Errors
/// If the file cannot be read, is damaged, or is of another version of the schema.
pub fn read(path: &Path) -> Result<Batch, TablesError> {
    let file = File::open(path).map_err(|error| TablesError::Read { path: path.to_owned(), error })?;
    let broken = |why: String| TablesError::Table { path: path.to_owned(), why };
    let damaged = |error: parquet::errors::ParquetError| {
        broken(format!("it is no complete Parquet file ({error}): import its input again with --replace"))
    };
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let metadata = reader.metadata().file_metadata();
    let value = |key: &str| {
        let entries = metadata.key_value_metadata()?;
        entries.iter().find(|entry| entry.key == key)?.value.as_deref()
    };
    match value(SCHEMA_KEY) {
        Some(SCHEMA) => {}
        Some(other) => {
            return Err(broken(format!(
                "its schema is {other}, and this whylate reads {SCHEMA}: use a later one"
            )));
        }
        None => return Err(broken("it is no table of whylate: it names no schema".to_owned())),
    }
    let name = value(TABLE_KEY).unwrap_or_default();
    let Some(table) = Table::named(name) else {
        return Err(broken(format!("this whylate has no table `{name}`: use a later one")));
    };
    let descriptor = metadata.schema_descr();
    let places: Vec<Option<usize>> = (table.columns.iter())
        .map(|column| (0..descriptor.num_columns()).find(|&at| descriptor.column(at).name() == column.name))
        .collect();
    let mut batch = Batch::new(table);
    for row in reader.get_row_iter(None).map_err(damaged)? {
        let row = row.map_err(damaged)?;
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        batch.push(places.iter().map(|place| match place.and_then(|at| fields.get(at)) {
            Some(Field::Long(int)) => Cell::Int(*int),
            Some(Field::Double(float)) => Cell::Float(*float),
            Some(Field::Bool(bool)) => Cell::Bool(*bool),
            Some(Field::Str(text)) => Cell::from(text),
            _ => Cell::Null,
        }));
    }
    Ok(batch)
}
