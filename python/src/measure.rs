//! `whylate.measure`

use crate::errors::failed;
use crate::options::Duration;
use crate::report::Report;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use whylate_base::CpuSetError;
use whylate_investigate::measure::MeasureOptions;
use whylate_probes::Probe;
use whylate_report::measure::json;
use whylate_tables::rows_of_measurement;

/// Measures the wake-up latency of this machine for a time, and explains the worst wake-ups. Ctrl-C ends it.
#[pyfunction]
#[pyo3(signature = (duration, *, trace=true, cpus=None, interval=None, priority=None))]
pub(crate) fn measure(
    py: Python<'_>,
    duration: Duration,
    trace: bool,
    cpus: Option<&str>,
    interval: Option<Duration>,
    priority: Option<u32>,
) -> PyResult<Report> {
    let cpus = cpus.map(str::parse).transpose().map_err(failed::<CpuSetError>)?;
    let mut probe = Probe { cpus, ..Probe::default() };
    if let Some(interval) = interval {
        probe.interval = interval.ns()?;
    }
    if let Some(priority) = priority {
        probe.priority = priority;
    }
    let options =
        MeasureOptions { probe, duration: Some(duration.ns()?), trace, ..MeasureOptions::default() };
    let stop = AtomicBool::new(false);
    let mut interrupted = None;
    let report = py.detach(|| {
        whylate_investigate::measure::measure(&options, &stop, &mut |_| {
            // Python's handlers run where its lock is held: about once a second.
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        })
        .map_err(failed)
    })?;
    if let Some(error) = interrupted {
        return Err(error);
    }
    let document = json::render(&report);
    let batches = rows_of_measurement(&document.to_string()).map_err(failed)?;
    Ok(Report::new(document, batches))
}
