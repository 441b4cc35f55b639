//! `whylate.tables` and `whylate.import_tables`

use crate::arrow::{Table, dict, no_table};
use crate::errors::{Error, failed};
use crate::options::{Duration, Task, options};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use whylate_tables::dataset::Dataset;
use whylate_tables::schema::TABLES;
use whylate_tables::{Batch, DateSource, MachineSource, TableOptions, TablesError, rows_of};

/// The rows of an input (recording, measurement, document, snapshot, bundle) as a dict of tables, or as one of them.
#[pyfunction]
#[pyo3(signature = (path, *, table=None, machine=None, tasks=None, deadline=None, worst=10, all=false))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn tables<'py>(
    py: Python<'py>,
    path: PathBuf,
    table: Option<&str>,
    machine: Option<String>,
    tasks: Option<Vec<Task>>,
    deadline: Option<Duration>,
    worst: usize,
    all: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = TableOptions {
        explain: options(tasks, deadline, worst)?,
        all,
        machine: machine.map_or(MachineSource::Content, MachineSource::Name),
        ..TableOptions::default()
    };
    if let Some(name) = table
        && !TABLES.iter().any(|table| table.name == name)
    {
        return Err(no_table(name));
    }
    let batches: Vec<Batch> = py.detach(|| rows_of(&path, &options)).map_err(failed)?;
    match table.and_then(|name| batches.iter().find(|batch| batch.table().name == name)) {
        Some(batch) => Ok(Bound::new(py, Table::of(batch)?)?.into_any()),
        None => Ok(dict(py, &batches)?.into_any()),
    }
}

/// Adds an input to a directory of Parquet tables, as `whylate tables` does. Returns how many runs were added, how many were
/// there already, and how many rows were added.
#[pyfunction]
#[pyo3(signature = (path, output, *, machine=None, date=None, tasks=None, deadline=None, worst=10, all=false, replace=false))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn import_tables<'py>(
    py: Python<'py>,
    path: PathBuf,
    output: PathBuf,
    machine: Option<String>,
    date: Option<String>,
    tasks: Option<Vec<Task>>,
    deadline: Option<Duration>,
    worst: usize,
    all: bool,
    replace: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let options = TableOptions {
        explain: options(tasks, deadline, worst)?,
        all,
        machine: machine.map_or(MachineSource::Content, MachineSource::Name),
        date: date.map_or(Ok(DateSource::Content), |date| date.parse()).map_err(Error::new_err)?,
        hide_names: None,
    };
    let import = || {
        let dataset = Dataset::open(&output)?;
        let imported = dataset.import(&path, &options, replace)?;
        dataset.write_views()?;
        Ok(imported)
    };
    let imported = py.detach(import).map_err(|error: TablesError| failed(error))?;
    let dict = PyDict::new(py);
    dict.set_item("added", imported.added)?;
    dict.set_item("present", imported.present)?;
    dict.set_item("rows", imported.rows)?;
    Ok(dict)
}

/// The tables and their columns: `{table: [(column, type), ...]}`, with the types of SQL.
#[pyfunction]
pub(crate) fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for table in &TABLES {
        let columns: Vec<(&str, &str)> =
            table.columns.iter().map(|column| (column.name, column.holds.sql())).collect();
        dict.set_item(table.name, columns)?;
    }
    Ok(dict)
}

/// Writes `views.sql` into a directory of tables: their names for DuckDB. An import does so by itself.
#[pyfunction]
pub(crate) fn write_views(py: Python<'_>, directory: PathBuf) -> PyResult<()> {
    py.detach(|| Dataset::open(&directory)?.write_views()).map_err(|error: TablesError| failed(error))
}
