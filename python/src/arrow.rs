//! Tables in Arrow's memory layout, and their way out: the Arrow C stream interface.

use crate::errors::{Error, failed};
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::collections::HashMap;
use std::sync::Arc;
use whylate_tables::schema::{Holds, SCHEMA, SCHEMA_KEY, TABLE_KEY, TABLES};
use whylate_tables::{Batch, Data};

/// A table, which Arrow's consumers take without a copy: `pyarrow.table(t)`, `polars.DataFrame(t)`, `duckdb.sql("FROM t")`,
/// `pandas.DataFrame.from_arrow(t)`.
#[pyclass(module = "whylate", frozen)]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn of(batch: &Batch) -> PyResult<Table> {
        record_batch(batch).map(|batch| Table { batch }).map_err(failed)
    }
}

#[pymethods]
impl Table {
    /// The stream of the Arrow C interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to answer with the own schema: the consumer casts.
        let _ = requested_schema;
        let batches = [Ok(self.batch.clone())];
        stream(py, RecordBatchIterator::new(batches, self.batch.schema()))
    }

    /// The schema of the Arrow C interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, self.batch.schema_ref())
    }

    /// How many rows it has.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The names of its columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<whylate.Table of {} rows: {}>", self.num_rows(), self.column_names().join(", "))
    }
}

/// A reader as a capsule, which its consumer empties.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    reader: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
}

/// A schema as a capsule.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(schema).map_err(failed)?;
    PyCapsule::new_with_value(py, exported, c"arrow_schema")
}

/// Columns that may all be null, with metadata.
pub(crate) fn schema_of(fields: &[(&str, Holds)], metadata: &[(&str, &str)]) -> SchemaRef {
    let field = |&(name, holds): &(&str, Holds)| {
        let kind = match holds {
            Holds::Int => DataType::Int64,
            Holds::Float => DataType::Float64,
            Holds::Bool => DataType::Boolean,
            Holds::Text => DataType::Utf8,
        };
        Field::new(name, kind, true)
    };
    let metadata: HashMap<String, String> =
        metadata.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Arc::new(Schema::new_with_metadata(fields.iter().map(field).collect::<Vec<_>>(), metadata))
}

fn record_batch(batch: &Batch) -> Result<RecordBatch, ArrowError> {
    let table = batch.table();
    let fields: Vec<(&str, Holds)> = table.columns.iter().map(|column| (column.name, column.holds)).collect();
    let schema = schema_of(&fields, &[(SCHEMA_KEY, SCHEMA), (TABLE_KEY, table.name)]);
    let columns = batch.columns().iter().map(|column| array(&column.defined, &column.data)).collect();
    RecordBatch::try_new(schema, columns)
}

fn array(defined: &[bool], data: &Data) -> ArrayRef {
    /// Appends a value for each row that has one.
    macro_rules! built {
        ($builder:expr, $values:expr) => {{
            let mut builder = $builder;
            let mut values = $values;
            for &is_defined in defined {
                builder.append_option(if is_defined { values.next() } else { None });
            }
            Arc::new(builder.finish())
        }};
    }
    match data {
        Data::Ints(ints) => built!(Int64Builder::new(), ints.iter().copied()),
        Data::Floats(floats) => built!(Float64Builder::new(), floats.iter().copied()),
        Data::Bools(bools) => built!(BooleanBuilder::new(), bools.iter().copied()),
        Data::Texts(..) => built!(StringBuilder::new(), data.texts()),
    }
}

/// Tables that have rows, by name.
pub(crate) fn dict<'py>(py: Python<'py>, batches: &[Batch]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for batch in batches.iter().filter(|batch| batch.rows() > 0) {
        dict.set_item(batch.table().name, Table::of(batch)?)?;
    }
    Ok(dict)
}

/// A name that no table has.
pub(crate) fn no_table(name: &str) -> PyErr {
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    Error::new_err(format!("there is no table `{name}`: use one of {}", names.join(", ")))
}
