//! The simulated schedule in the formats of `convert`, by the file's ending.

use crate::args::ConvertFormat;
use crate::atomic_file::AtomicFile;
use crate::output::message;
use anyhow::{Context, Result, bail};
use std::io::{BufWriter, Write};
use std::path::Path;
use whylate_base::Ns;
use whylate_export::{Cut, dat, json_lines, perfetto, text};
use whylate_ledger::Options;
use whylate_simulate::SimulatedSource;
use whylate_simulate::model::Model;

/// Refuses a file whose ending names no format that takes simulated events.
pub(super) fn check(path: &Path) -> Result<ConvertFormat> {
    match ConvertFormat::of_file(path) {
        Some(format) if format != ConvertFormat::Parquet => Ok(format),
        _ => bail!(
            "the name {} has no known ending: use .perfetto-trace, .dat, .txt or .jsonl",
            path.display()
        ),
    }
}

/// Simulates once more, and writes the events.
pub(super) fn write(
    model: &Model,
    duration: Ns,
    seed: u64,
    path: &Path,
    format: ConvertFormat,
) -> Result<()> {
    let name = path.display().to_string();
    let cannot = || format!("cannot write {name}");
    let mode = if format == ConvertFormat::Dat { whylate_ftrace::dat::write::MODE } else { 0o666 };
    let mut part = AtomicFile::interruptible(path, mode)?;
    let directory = part.directory().to_owned();
    let mut source = SimulatedSource::new(model, duration, seed);
    let mut out = BufWriter::new(part.file());
    let cut = Cut::default();
    let written = match format {
        ConvertFormat::Dat => dat::write(&mut source, &cut, &directory, &mut out),
        ConvertFormat::Text => text::write(&mut source, &cut, &mut out),
        ConvertFormat::Perfetto => {
            perfetto::write(&mut source, &cut, &Options::default(), &mut out).map(|(written, _)| written)
        }
        ConvertFormat::Jsonl | ConvertFormat::Parquet => json_lines::write(&mut source, &cut, &mut out),
    };
    let written = written.with_context(cannot)?;
    out.flush().with_context(cannot)?;
    drop(out);
    let bytes = part.keep()?;
    message!("{name}: {} simulated events, {:.1} MB", written.events, bytes as f64 / 1e6);
    Ok(())
}
