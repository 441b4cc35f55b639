//! What is put into a guest and done there, and what comes back.

use crate::job::{JobReport, Step};
use crate::time::Time;
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

/// What is done in a machine.
#[derive(Clone, Debug, Default)]
pub struct Visit {
    /// Put there before it boots. Dynamic programs bring their libraries along.
    pub files: Vec<GuestFile>,
    /// Modules to load, by name, with their parameters as of `insmod`.
    pub modules: Vec<(String, String)>,
    /// What is done there.
    pub steps: Vec<Step>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The guest's own report.
    pub report: JobReport,
    /// All its console showed.
    pub console: String,
    /// Who kept the time in the end.
    pub time: Time,
    /// What was done otherwise than asked, and why.
    pub notes: Vec<String>,
    /// Host time until the guest was up.
    pub boot: Duration,
    /// Host time of its steps.
    pub run: Duration,
    /// Host time of it all, files packed and unpacked.
    pub total: Duration,
}
