//! Measurements of other tools: their latency histograms, recognized by content.
//!
//! ```text
//! "{" ──> json: cyclictest --json, oslat --json, jitterdebugger, OSADL's RT Dataset
//! text ─> cyclictest: the summary, -h, --histfile, -v;  rtla: timerlat hist, osnoise hist;  oslat
//! ```
//!
//! Most of them count in whole microseconds, and only up to a limit; a [`Run`]'s notes report it.

mod counted;
mod cyclictest;
mod error;
mod json;
mod oslat;
mod rtla;

pub use error::LatenciesError;

use crate::pasted;
use error::Broken;
use std::borrow::Cow;
use std::path::Path;
use whylate_stats::Run;

/// Longer files are no histograms: a day of `cyclictest -v` at 1 ms has 2 GiB.
const MOST_BYTES: u64 = 4 << 30;

/// The measurement in a file, which gives it its label.
///
/// # Errors
/// If the file cannot be read, or is none of another tool's measurements.
pub fn open(path: &Path) -> Result<Run, LatenciesError> {
    let file = |error| LatenciesError::File { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(file)?.len();
    if size > MOST_BYTES {
        return Err(LatenciesError::Unknown { path: path.to_owned() });
    }
    read(path, &std::fs::read(path).map_err(file)?)
}

/// The measurement in the bytes of a file.
///
/// # Errors
/// If they are none of another tool's measurements.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Run, LatenciesError> {
    let text = pasted::restored(bytes);
    let text = match pasted::rejoined(&text, cyclictest::ends_early, cyclictest::is_own) {
        Some(whole) => Cow::Owned(whole),
        None => text,
    };
    let read = match text.trim_start().starts_with('{') {
        true => json::read(&text),
        false => [rtla::read, oslat::read, cyclictest::read].into_iter().find_map(|reader| reader(&text)),
    };
    match read {
        None => Err(LatenciesError::Unknown { path: path.to_owned() }),
        Some(Err(Broken { tool, why })) => Err(LatenciesError::Broken { path: path.to_owned(), tool, why }),
        Some(Ok(run)) => Ok(Run { label: label(path), ..run }),
    }
}

fn label(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
