//! A report: its JSON document, and its tables.

use crate::arrow::{Table, dict, no_table};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use whylate_tables::Batch;

/// What a verb reports: `document()` is what the program prints with --json, `tables` the same as Arrow tables.
#[pyclass(module = "whylate", frozen)]
pub(crate) struct Report {
    document: Value,
    batches: Vec<Batch>,
}

impl Report {
    pub(crate) fn new(document: Value, batches: Vec<Batch>) -> Report {
        Report { document, batches }
    }
}

#[pymethods]
impl Report {
    /// The document as text.
    fn json(&self) -> String {
        self.document.to_string()
    }

    /// The document as Python's own types.
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.json(),))
    }

    /// All tables that have rows, by name.
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.batches)
    }

    /// A table by its name; one without rows is empty.
    fn table(&self, name: &str) -> PyResult<Table> {
        let known = self.batches.iter().find(|batch| batch.table().name == name);
        known.map_or_else(|| Err(no_table(name)), Table::of)
    }

    fn __repr__(&self) -> String {
        let names = self.batches.iter().filter(|batch| batch.rows() > 0);
        let names: Vec<String> =
            names.map(|batch| format!("{}: {}", batch.table().name, batch.rows())).collect();
        format!(
            "<whylate.Report {} ({})>",
            self.document["schema"].as_str().unwrap_or_default(),
            names.join(", ")
        )
    }
}
