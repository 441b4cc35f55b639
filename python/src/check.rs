//! `whylate.check`

use crate::errors::{Error, failed};
use crate::report::Report;
use pyo3::prelude::*;
use std::path::PathBuf;
use whylate_checks::{CheckOptions, Profile, Selection};
use whylate_host::{FsRoot, Snapshot};
use whylate_report::check::json;
use whylate_tables::rows_of_check;

/// Checks whether a machine is ready for real-time work: this one, a directory with its root, or a snapshot.
#[pyfunction]
#[pyo3(signature = (root=PathBuf::from("/"), *, profile="realtime"))]
pub(crate) fn check(py: Python<'_>, root: PathBuf, profile: &str) -> PyResult<Report> {
    let profile: Profile = profile.parse().map_err(|why: String| Error::new_err(why))?;
    py.detach(|| {
        let host = Snapshot::read(&FsRoot::open(&root).map_err(failed)?);
        let report = whylate_checks::check(&host, &CheckOptions::of(profile), &Selection::default());
        let document = json::document::Document::from(&report);
        let batches = rows_of_check(&document).map_err(failed)?;
        Ok(Report::new(json::render(&report), batches))
    })
}
