//! Where answers go: standard output, and the files that were asked for.

/// Says something on standard error, as `eprintln!` does, without ending the run when nobody is
/// there to hear it: a terminal that was closed must not cost the report.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
pub(crate) use say;

use crate::part::Part;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use whylate_ftrace::dat::write::check_output;
use whylate_report::Style;

/// How standard output is to be written: colours on a terminal only, and not where `NO_COLOR` is set
/// (no-color.org).
pub(crate) fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let width = match terminal {
        true => rustix::termios::tcgetwinsize(io::stdout())
            .map_or(100, |size| usize::from(size.ws_col))
            .clamp(60, 120),
        false => Style::default().width,
    };
    Style { color: terminal && !no_color, width }
}

const CANNOT: &str = "cannot write to standard output";

/// Writes text to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(CANNOT)
}

/// Writes a JSON document to standard output.
pub(crate) fn print_json(document: &Value) -> Result<()> {
    // Standard output alone writes out each line.
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from).context(CANNOT)?;
    out.write_all(b"\n").and_then(|()| out.flush()).context(CANNOT)
}

/// Refuses a page's file that could not be written at the end, or whose name says that it is something else.
pub(crate) fn check_page(page: Option<&Path>) -> Result<()> {
    let Some(path) = page else { return Ok(()) };
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("html" | "htm" | "svg") | None => {}
        Some(_) => bail!(
            "cannot write {}: the report is HTML, or a drawing alone: name a file that ends with .html or .svg",
            path.display()
        ),
    }
    if !is_device(path) {
        check_output(path)?;
    }
    Ok(())
}

/// The file that a report is also written to, with the format that its name asks for; `endings` are those it may have.
pub(crate) fn file_by_name<'a, F>(
    file: Option<&'a Path>,
    format: impl FnOnce(&Path) -> Option<F>,
    endings: &str,
) -> Result<Option<(&'a Path, F)>> {
    let Some(path) = file else { return Ok(None) };
    let format = format(path).with_context(|| {
        format!("{}: its name does not say the format: end it in {endings}", path.display())
    })?;
    Ok(Some((path, format)))
}

/// A device or a pipe cannot be put in place when it is complete.
pub(crate) fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Writes a report to a file: the whole page, or the drawing alone where the file is called `.svg`.
pub(crate) fn write_page(
    path: &Path,
    page: impl FnOnce() -> String,
    drawing: impl FnOnce() -> Option<String>,
) -> Result<()> {
    let text = match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        true => drawing().context("there is nothing to draw")?,
        false => page(),
    };
    write_report(path, &text)
}

/// Writes a report to a file.
pub(crate) fn write_report(path: &Path, text: &str) -> Result<()> {
    let cannot = || format!("cannot write the report to {}", path.display());
    if is_device(path) {
        std::fs::write(path, text).with_context(cannot)?;
    } else {
        let mut part = Part::new(path).with_context(cannot)?;
        part.file().write_all(text.as_bytes()).with_context(cannot)?;
        part.keep()?;
    }
    say!("report: {}", path.display());
    Ok(())
}

/// Refuses to write over the trace that is read, under whatever name: there is often no other copy of it.
/// `-` is what standard input comes from.
pub(crate) fn spare(input: &Path, output: &Path) -> Result<()> {
    let trace = match input.as_os_str() == "-" {
        true => rustix::fs::fstat(io::stdin()),
        false => rustix::fs::stat(input),
    };
    let same = |a: rustix::fs::Stat, b: rustix::fs::Stat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
    if trace.is_ok_and(|trace| rustix::fs::stat(output).is_ok_and(|there| same(trace, there))) {
        bail!("cannot write {}: it is the trace that is to be read; give another name", output.display());
    }
    Ok(())
}

/// True when an error is only that the reader of our output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
