//! `measure --export`: the measurement in files that other programs read.

use crate::args::Export;
use crate::output::{is_device, say};
use crate::part::Part;
use anyhow::{Context, Result};
use std::io::{self, BufWriter, Write};
use whylate_export::latencies;
use whylate_ftrace::dat::write::check_output;
use whylate_investigate::measure::MeasureReport;
use whylate_report::measure;

/// Refuses what could not be written at the end: nobody is to measure for a night in vain.
pub(crate) fn check(exports: &[Export]) -> Result<()> {
    let mut files = exports.iter().map(|export| &export.path).filter(|path| !is_device(path));
    files.try_for_each(|path| Ok(check_output(path).map(drop)?))
}

/// Writes each of them.
pub(crate) fn write(exports: &[Export], report: &MeasureReport) -> Result<()> {
    exports.iter().try_for_each(|export| one(export, report))
}

fn one(export: &Export, report: &MeasureReport) -> Result<()> {
    let path = &export.path;
    let cannot = || format!("cannot write the measurement to {}", path.display());
    if is_device(path) {
        let file = std::fs::File::options().write(true).open(path).with_context(cannot)?;
        form(export, report, &mut BufWriter::new(file)).with_context(cannot)?;
    } else {
        // node_exporter may look at any time: it is there when it is complete.
        let mut part = Part::new(path).with_context(cannot)?;
        form(export, report, &mut BufWriter::new(part.file())).with_context(cannot)?;
        part.keep()?;
    }
    say!("measurement: {}", path.display());
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
