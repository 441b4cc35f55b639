//! Measurements of other tools: their latency histograms, recognized by content.
//!
//! ```text
//! "{" ──> json: cyclictest --json, oslat --json, jitterdebugger, OSADL's RT Dataset
//! text ─> cyclictest: the summary, -h, --histfile, -v;  its siblings of pairs of threads;  rtla: timerlat hist, osnoise hist;
//!         oslat;  sysjitter, with --raw;  jittersamples;  latency of Xenomai, and latmus, with -g;  stress-ng --cyclic;
//!         histograms of bcc and bpftrace, whose classes double
//!         where there is none of these (`summaries`): rows of perf sched timehist;  without samples perf sched latency;  rtla timerlat top, osnoise top, hwnoise;  hwlatdetect
//! ```
//!
//! Several measurements of one kind in a file are taken together (`sections`). Most of them count in whole microseconds,
//! and only up to a limit; a [`Run`]'s notes report it.

mod command;
mod counted;
mod cyclictest;
mod error;
mod file;
mod hwlatdetect;
mod json;
mod latmus;
mod log2;
mod map_lines;
mod map_names;
mod node;
mod oslat;
mod pairs;
mod perf_sched;
mod prefixed;
mod ranked;
mod raw_samples;
mod rtai;
mod rtla;
mod rtla_top;
mod sections;
mod side_by_side;
mod source;
mod stress_ng;
mod summaries;
mod sysjitter;
mod timehist;
mod titles;
mod unknown;
mod xenomai;

pub use error::LatenciesError;
pub use file::{Beginning, beginning, contents};

use crate::pasted;
use crate::text::what_is;
use error::Broken;
use std::path::Path;
use whylate_stats::Run;

/// The measurement in a file, which may be packed with gzip or zstd.
///
/// # Errors
/// If the file cannot be read, or is none of another tool's measurements.
pub fn open(path: &Path) -> Result<Run, LatenciesError> {
    read(path, &contents(path)?)
}

/// The measurement in the bytes of a file, which gives it its label.
///
/// # Errors
/// If they are none of another tool's measurements, or several which did not measure the same thing.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Run, LatenciesError> {
    only(path, read_each(path, bytes)?)
}

/// The one of the measurements of a file.
///
/// # Errors
/// If there are several, or none.
pub fn only(path: &Path, runs: Vec<Run>) -> Result<Run, LatenciesError> {
    let broken = |Broken { tool, why }| LatenciesError::Broken { path: path.to_owned(), tool, why };
    let run = sections::only(runs).map_err(broken)?;
    run.ok_or_else(|| LatenciesError::Unknown { path: path.to_owned(), what: None })
}

/// The measurements in the bytes of a file, those of one kind, by one tool of the same thing, as one.
///
/// # Errors
/// If they are none of another tool's measurements.
pub fn read_each(path: &Path, bytes: &[u8]) -> Result<Vec<Run>, LatenciesError> {
    let text = pasted::restored(bytes);
    let mut what = None;
    let mut read = match is_json(&text) {
        true => json::read(&text),
        false => {
            let text = lines(&text);
            let documents = json::within(&text);
            if !documents.is_empty() {
                return finished(path, documents, None);
            }
            let text = pasted::rejoined(&text, cyclictest::ends_early, cyclictest::is_own).unwrap_or(text);
            // A report without samples is a measurement where nothing else is one.
            let mut read = Vec::new();
            for readings in [of_lines, summaries::read] {
                if read.is_empty() {
                    read = readings(&text);
                }
                for bare in [pasted::uncommented, pasted::unnumbered] {
                    if read.is_empty()
                        && let Some(text) = bare(&text)
                    {
                        read = readings(&lines(&text));
                    }
                }
            }
            if read.is_empty() {
                what = what_is(&text);
                read = prefixed::texts(&text).iter().flat_map(|text| of_lines(&lines(text))).collect();
            }
            read
        }
    };
    if read.is_empty() {
        read = of_strings(&pasted::decoded(bytes).0);
    }
    finished(path, read, what)
}

/// The measurement in the strings of a JSON document, or of a program's source, where they have one alone: of several it is not known
/// which is meant.
fn of_strings(text: &str) -> Vec<Result<Run, Broken>> {
    let readings = |text: String| {
        let text = lines(&text);
        let read = of_lines(&text);
        if read.is_empty() { summaries::read(&text) } else { read }
    };
    let mut all = pasted::texts_of_strings(text).into_iter().map(readings).filter(|read| !read.is_empty());
    let first = all.next().unwrap_or_default();
    if all.next().is_some() { Vec::new() } else { first }
}

/// What was read of a file, as one measurement of each kind; `what` it is where nothing was.
fn finished(
    path: &Path,
    read: Vec<Result<Run, Broken>>,
    what: Option<String>,
) -> Result<Vec<Run>, LatenciesError> {
    let others = sections::others(&read);
    let read = read.into_iter().collect::<Result<Vec<Run>, Broken>>();
    let broken =
        |Broken { tool, why }| LatenciesError::Broken { path: path.to_owned(), tool, why: why + &others };
    let mut kinds = sections::by_kind(read.map_err(broken)?);
    if kinds.is_empty() {
        return Err(LatenciesError::Unknown { path: path.to_owned(), what });
    }
    for run in &mut kinds {
        run.notes.extend(sections::name_apart(&mut run.threads));
        run.label = label(path);
    }
    Ok(kinds)
}

/// Each measurement in a text, by any of the readers.
fn of_lines(text: &str) -> Vec<Result<Run, Broken>> {
    let readers = [
        rtla::read,
        oslat::read,
        cyclictest::read,
        log2::read,
        sysjitter::read,
        raw_samples::sysjitter,
        raw_samples::jitterdebugger,
        pairs::read,
        xenomai::read,
        latmus::read,
        rtai::read,
        stress_ng::read,
    ];
    readers.into_iter().flat_map(|reader| reader(text)).collect()
}

/// True when the first line that is no comment begins a JSON document.
fn is_json(text: &str) -> bool {
    let mut lines = text.split(['\n', '\r']).filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    // A page's own marks (`{% highlight %}`) begin as a document does.
    let begins =
        |line: &str| line.trim_start().strip_prefix('{').map(|rest| rest.trim_start().chars().next());
    matches!(lines.next().and_then(begins), Some(None | Some('"' | '}')))
}

/// A terminal's lines: one that was written over is a line of its own (cyclictest moves the cursor up). Documents indent
/// what a tool prints at the line's start; only the samples of `cyclictest -v` begin with blanks themselves.
fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace("\x1b[1A", "");
    // A page that broke a line as a shell would.
    let text = text.replace(" \\\n", " ");
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    if !text.lines().any(is_indented) {
        return text;
    }
    let mut all = String::with_capacity(text.len());
    for line in text.lines() {
        let bare = line.trim_start();
        let is_sample = bare.starts_with(|first: char| first.is_ascii_digit()) && bare.contains(':');
        all.push_str(if is_sample { line } else { bare });
        all.push('\n');
    }
    all
}

fn label(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
