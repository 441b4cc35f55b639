//! Reports: to standard output, and to a file in the format that its name ends with.

use crate::args::OutputArgs;
use crate::atomic_file;
use crate::output::{self, message};
use crate::output_errors::OutputErrors;
use anyhow::{Context, Result, bail};
use std::io;
use std::path::{Path, PathBuf};
use whylate_report::{Format, Render, Style};

/// Where a report goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Destination<'a> {
    format: Format,
    file: Option<(&'a Path, Format)>,
}

impl<'a> Destination<'a> {
    /// The destination that the user asked for, checked before the work for it begins: none of the `inputs` is written
    /// over.
    pub(crate) fn of<R: Render>(args: &'a OutputArgs, inputs: &[PathBuf]) -> Result<Destination<'a>> {
        if let Some(path) = args.file() {
            inputs.iter().try_for_each(|input| output::spare(input, path))?;
        }
        let file =
            args.file().map(|path| of_name(path, R::FORMATS).map(|format| (path, format))).transpose()?;
        if let Some((path, _)) = file {
            atomic_file::check(path)?;
        }
        Ok(Destination { format: args.format(), file })
    }

    /// The format on standard output.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// True where standard output is for another program: what a command writes there would damage it.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.format != Format::Text
    }

    /// Writes a report to the file alone, where there is one.
    pub(crate) fn write_file(&self, report: &impl Render) -> Result<()> {
        self.file.map_or(Ok(()), |(path, format)| save(report, path, format))
    }

    /// Writes a report to standard output, and then to the file: each is tried, whatever happened to the other.
    pub(crate) fn write(&self, report: &impl Render) -> Result<()> {
        let mut errors = OutputErrors::default();
        errors.collect(self.print(report));
        if let Some((path, format)) = self.file {
            errors.collect(save(report, path, format));
        }
        errors.into_result()
    }

    fn print(&self, report: &impl Render) -> Result<()> {
        let rendered = report.render(self.format, &output::style()).context(NOTHING)?;
        // Standard output alone writes out each line.
        let mut out = io::BufWriter::new(io::stdout().lock());
        output::printed(rendered.write(&mut out))
    }
}

/// A report as JSON.
pub(crate) fn json(report: &impl Render) -> Result<Vec<u8>> {
    let rendered = report.render(Format::Json, &Style::default()).context(NOTHING)?;
    let mut text = Vec::new();
    rendered.write(&mut text)?;
    Ok(text)
}

fn save(report: &impl Render, path: &Path, format: Format) -> Result<()> {
    let rendered = report.render(format, &Style::default()).context(NOTHING)?;
    atomic_file::write(path, |out| Ok(rendered.write(out)?))?;
    message!("report: {}", path.display());
    Ok(())
}

const NOTHING: &str = "there is nothing to draw";

/// The format that a file's name ends with; without an ending it is a page.
fn of_name(path: &Path, formats: &[Format]) -> Result<Format> {
    match Format::of_file(path, formats) {
        Some(format) => Ok(format),
        None if path.extension().is_none() && formats.contains(&Format::Html) => Ok(Format::Html),
        None => {
            let endings: Vec<&str> = formats.iter().map(|format| format.ending()).collect();
            bail!(
                "cannot write {}: the suffix of the name selects no format of this report: use one of {}",
                path.display(),
                endings.join(", ")
            )
        }
    }
}
