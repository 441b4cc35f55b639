//! `whylate.explain`

use crate::errors::failed;
use crate::options::{Duration, Task, options};
use crate::report::Report;
use pyo3::prelude::*;
use std::path::PathBuf;
use whylate_ledger::{WANTED, explain_any};
use whylate_report::explain::json;
use whylate_tables::rows_of_explanation;

/// Explains why the threads of a recording were late.
#[pyfunction]
#[pyo3(signature = (path, *, tasks=None, deadline=None, worst=10))]
pub(crate) fn explain(
    py: Python<'_>,
    path: PathBuf,
    tasks: Option<Vec<Task>>,
    deadline: Option<Duration>,
    worst: usize,
) -> PyResult<Report> {
    let options = options(tasks, deadline, worst)?;
    py.detach(|| {
        let open = || whylate_intake::open(&path, WANTED);
        let explanation =
            explain_any(open().map_err(failed)?, &options, || open().map(Some)).map_err(failed)?;
        let document = json::document::Document::from(&explanation);
        let batches = rows_of_explanation(&path, &document).map_err(failed)?;
        Ok(Report::new(json::render(&explanation), batches))
    })
}
