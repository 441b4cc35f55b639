//! Why a file could not be opened as a trace.dat.

use super::latency_text::LatencyText;
use std::io;
use std::path::PathBuf;

/// Why a file has no readable events at all. Smaller damage is listed in the info.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation")]
#[non_exhaustive]
pub enum DatError {
    #[error("{}: failed to open", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{}: failed to read at byte {offset}", path.display())]
    Read { path: PathBuf, offset: u64, source: io::Error },
    #[error("{}: the file is empty", path.display())]
    Empty { path: PathBuf },
    #[error("{}: not a trace.dat: it does not begin with the format's magic bytes", path.display())]
    NotTraceDat { path: PathBuf },
    #[error("{}: trace.dat version {version} is not supported; versions 6 and 7 are", path.display())]
    Version { path: PathBuf, version: String },
    #[error(
        "{}: compressed with {algorithm}, which is not supported: convert it with `trace-cmd convert --compression zstd`",
        path.display()
    )]
    Compression { path: PathBuf, algorithm: String },
    #[error("{}: the file ends at byte {offset} inside {what}: no event is left", path.display())]
    Cut { path: PathBuf, offset: u64, what: String },
    #[error("{}: {what} at byte {offset}: no event can be read", path.display())]
    Broken { path: PathBuf, offset: u64, what: String },
    #[error(
        "{}: holds a latency tracer's text instead of events: `trace-cmd report` prints the text, which is supported",
        path.display()
    )]
    Text { path: PathBuf, text: LatencyText },
}

/// What went wrong at a place, before the file's name is put to it.
#[derive(Debug)]
pub(super) enum Trouble {
    Cut { at: u64, what: &'static str },
    Bad { at: u64, what: String },
    Io { at: u64, source: io::Error },
    Algorithm(String),
}

impl Trouble {
    pub(super) fn bad(at: u64, what: impl Into<String>) -> Trouble {
        Trouble::Bad { at, what: what.into() }
    }

    pub(super) fn at_path(self, path: &std::path::Path) -> DatError {
        let path = path.to_owned();
        match self {
            Trouble::Cut { at: offset, what } => DatError::Cut { path, offset, what: what.into() },
            Trouble::Bad { at: offset, what } => DatError::Broken { path, offset, what },
            Trouble::Io { at: offset, source } => DatError::Read { path, offset, source },
            Trouble::Algorithm(algorithm) => DatError::Compression { path, algorithm },
        }
    }

    /// As damage, where the rest of the file is still of use.
    pub(super) fn damage(self, cost: &str) -> whylate_events::Damage {
        use whylate_events::Damage;
        match self {
            Trouble::Cut { at, what } => Damage::at(at, format!("the file ends inside {what}: {cost}")),
            Trouble::Bad { at, what } => Damage::at(at, format!("{what}: {cost}")),
            Trouble::Io { at, source } => Damage::at(at, format!("failed to read: {source}: {cost}")),
            Trouble::Algorithm(name) => Damage::whole(format!("compression {name} is not known: {cost}")),
        }
    }
}
