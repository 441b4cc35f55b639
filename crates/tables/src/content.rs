//! An input that is open.

use crate::run_id::RunId;
use std::path::PathBuf;
use whylate_host::FsRoot;
use whylate_report::{measure, watch};
use whylate_stats::Run;

/// A measurement, and where it is one of ours its document.
pub(crate) struct Measurement {
    pub(crate) run: Run,
    pub(crate) document: Option<measure::json::document::Document>,
}

/// What an input is, opened.
pub(crate) enum Content {
    /// A trace.
    Recording,
    /// A measurement of ours or of another program.
    Measurement(Box<Measurement>),
    /// A document of `check`.
    Check(Box<whylate_report::check::json::document::Document>),
    /// A document of `doctor`.
    Doctor(Box<whylate_report::doctor::json::document::Document>),
    /// A document of `explain`.
    Explanation(Box<whylate_report::explain::json::document::Document>),
    /// The lines of a watch.
    Watch(Vec<watch::json::document::Line>),
    /// A machine's state.
    Snapshot(Box<FsRoot>),
}

/// One run: an input, or a part of a bundle.
pub(crate) struct Input {
    /// The file or directory.
    pub(crate) path: PathBuf,
    /// Its identity.
    pub(crate) run: RunId,
    /// What it is.
    pub(crate) content: Content,
    /// The machine as it is called in the tables.
    pub(crate) machine: Option<String>,
    /// The partition's day.
    pub(crate) date: Option<String>,
}
