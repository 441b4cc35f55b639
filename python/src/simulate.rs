//! `whylate.simulate`

use crate::errors::{Error, failed, in_file};
use crate::options::{Duration, MOST_WORST};
use crate::report::Report;
use pyo3::prelude::*;
use std::fs;
use std::path::PathBuf;
use whylate_report::explain::json::document::Document;
use whylate_report::simulate::json;
use whylate_simulate::model::KernelSeries;
use whylate_simulate::taskset::{self, Overrides};
use whylate_simulate::{RunOptions, simulate as run};
use whylate_tables::rows_of_simulation;

/// Predicts what a task set does on a kernel: a file as docs/simulate.md describes it, or its text.
#[pyfunction]
#[pyo3(signature = (path=None, *, text=None, kernel=None, cpus=None, duration=None, seed=0, worst=3))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn simulate(
    py: Python<'_>,
    path: Option<PathBuf>,
    text: Option<String>,
    kernel: Option<&str>,
    cpus: Option<u32>,
    duration: Option<Duration>,
    seed: u64,
    worst: usize,
) -> PyResult<Report> {
    let kernel = kernel.map(series).transpose()?;
    if cpus.is_some_and(|cpus| !(1..=1024).contains(&cpus)) {
        return Err(Error::new_err("cpus must be 1 to 1024"));
    }
    if !(1..=MOST_WORST).contains(&worst) {
        return Err(Error::new_err(format!("worst must be 1 to {MOST_WORST}")));
    }
    let mut options = RunOptions { seed, worst, ..RunOptions::default() };
    if let Some(duration) = duration {
        options.duration = duration.ns()?;
    }
    py.detach(|| {
        let (name, text) = match (path, text) {
            (Some(path), None) => {
                let name = path.display().to_string();
                let text = fs::read_to_string(&path)
                    .map_err(|error| Error::new_err(format!("cannot read the task set {name}: {error}")))?;
                (name, text)
            }
            (None, Some(text)) => ("text".to_owned(), text),
            _ => return Err(Error::new_err("give either the path of a task set or its text=")),
        };
        let model = taskset::read(&text, &Overrides { kernel, cpus, ..Overrides::default() })
            .map_err(|error| in_file(&name, error))?;
        let report = run(&model, options);
        let mut document = Document::from(&report.explanation);
        let own: json::Document = serde_json::from_value(json::render(&report)).map_err(failed)?;
        // Those of the task set as well.
        document.findings = own.findings;
        let batches = rows_of_simulation(&name, text.as_bytes(), &document).map_err(failed)?;
        Ok(Report::new(json::render(&report), batches))
    })
}

/// A version, and whether its release names PREEMPT_RT.
fn series(text: &str) -> PyResult<(KernelSeries, bool)> {
    let version = text.parse().map_err(failed::<whylate_simulate::model::KernelSeriesError>)?;
    Ok((version, text.contains("rt")))
}
