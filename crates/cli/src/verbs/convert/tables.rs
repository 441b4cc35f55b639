//! Parquet: three files, named after the one that was asked for.

use super::input::{Input, ledger_options};
use super::summary::summarize;
use crate::args::{ConvertArgs, ConvertFormat};
use crate::atomic_file::AtomicFile;
use crate::exit_status::ExitStatus;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use whylate_export::tables;

/// Writes `trace-events.parquet`, `trace-activations.parquet` and `trace-segments.parquet` for `trace.parquet`.
pub(super) fn run(args: &ConvertArgs) -> Result<ExitStatus> {
    let output = &args.output;
    let Some(stem) = output.file_stem() else { bail!("{} is no file's name", output.display()) };
    let path = |table: &str| -> PathBuf {
        let mut name = stem.to_owned();
        name.push(format!("-{table}.parquet"));
        output.with_file_name(name)
    };
    let paths = tables::TABLES.map(path);
    let mut parts = Vec::new();
    for path in &paths {
        parts.push(AtomicFile::interruptible(path, 0o666)?);
    }
    let mut input = Input::open(&args.input, ConvertFormat::Parquet)?;
    let [events, activations, segments] = &mut parts[..] else { bail!("three tables have three files") };
    let files = [events.file(), activations.file(), segments.file()];
    let Input::Typed(source) = &mut input else { bail!("tables are made of typed events") };
    let (written, _) = tables::write(source, &args.cut(), &ledger_options(args), files)
        .with_context(|| format!("cannot write {}", paths[0].display()))?;
    let mut bytes = 0;
    for part in parts {
        bytes += part.keep()?;
    }
    let names = paths.map(|path| path.display().to_string()).join(", ");
    summarize(&names, Some(bytes), args, ConvertFormat::Parquet, &written, &input);
    Ok(ExitStatus::Done)
}
