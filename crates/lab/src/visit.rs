//! The files, modules and steps for a guest, and its results.

use crate::job::{GuestStep, JobReport};
use crate::time::TimeSource;
use std::path::PathBuf;
use std::time::Duration;

/// A file or directory of the host, for the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestFile {
    /// On the host.
    pub from: PathBuf,
    /// In the guest, from `/`.
    pub to: String,
}

/// The files, modules and steps of one boot.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// Copied into the guest before it boots; the libraries of dynamic programs are added.
    pub files: Vec<GuestFile>,
    /// Directories copied as they are: a root with libraries of its own, for `chroot`. Only in a guest without a disk.
    pub roots: Vec<GuestFile>,
    /// Modules to load, by name, with their parameters as of `insmod`.
    pub modules: Vec<(String, String)>,
    /// The steps.
    pub steps: Vec<GuestStep>,
}

/// The results of one boot.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The guest's own report.
    pub report: JobReport,
    /// The text of its console.
    pub console: String,
    /// The source of its time.
    pub time: TimeSource,
    /// Whether it came to its limit: its programs were interrupted, and these are the results until then.
    pub interrupted: bool,
    /// Deviations from the request, with reasons.
    pub notes: Vec<String>,
    /// Host time until the guest was ready.
    pub boot: Duration,
    /// Host time of its steps.
    pub run: Duration,
    /// Host time of everything, with packing and unpacking.
    pub total: Duration,
}
