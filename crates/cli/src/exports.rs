//! `measure --export`: the measurement in files that other programs read.

use crate::args::Export;
use crate::atomic_file;
use crate::output::message;
use anyhow::Result;
use std::io::{self, Write};
use whylate_export::latencies;
use whylate_investigate::measure::MeasureReport;
use whylate_report::measure;

/// Refuses a file that could not be written at the end, before a night of measuring.
pub(crate) fn check(exports: &[Export]) -> Result<()> {
    exports.iter().try_for_each(|export| atomic_file::check(&export.path))
}

/// Writes one of them.
pub(crate) fn write(export: &Export, report: &MeasureReport) -> Result<()> {
    let path = &export.path;
    // node_exporter may read it at any time.
    atomic_file::write(path, |out| Ok(form(export, report, out)?))?;
    message!("measurement: {}", path.display());
    Ok(())
}

fn form(export: &Export, report: &MeasureReport, out: &mut dyn Write) -> io::Result<()> {
    match export.form {
        Some(form) => latencies::write(&report.run(), form, out),
        None => {
            serde_json::to_writer_pretty(&mut *out, &measure::json::render(report))?;
            out.write_all(b"\n")?;
            out.flush()
        }
    }
}
