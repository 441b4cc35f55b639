//! What to watch, what to keep, and the bounds.

use super::action::OnLate;
use super::groups::LateGroup;
use super::report::{KeptWindow, WatchReport};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use whylate_base::{Ns, Tid};
use whylate_ledger::{Markers, Select};
use whylate_stacks::ProbedPlace;

/// What to watch, and within which bounds.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// The threads; the first rule that fits a thread counts. Never empty.
    pub rules: Vec<WatchRule>,
    /// When to stop; `None`: when the command ends, or at a signal.
    pub duration: Option<Ns>,
    /// A program to start once the trace runs.
    pub command: Option<Vec<OsString>>,
    /// Whether the command's standard output goes to standard error, which leaves standard output to a report for programs.
    pub command_to_stderr: bool,
    /// Where windows are kept.
    pub keep: Option<WatchKeeping>,
    /// What is run for a late activation.
    pub on_late: Option<OnLate>,
    /// The own CPU time as a share of one CPU, at most.
    pub max_cpu: f64,
    /// KiB of each CPU's ring buffer; `None`: 4096, or less on a machine with more than 64 CPUs.
    pub buffer_kib: Option<u64>,
    /// Whether the watched threads' system calls and page faults are recorded.
    pub calls: bool,
    /// What begins and ends activations, in place of wake-ups and sleeps.
    pub markers: Option<Markers>,
    /// Where the activations of a program begin and end by probes, in place of these.
    pub at: Option<ProbedPlace>,
}

/// Some threads, and from when on they are late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRule {
    /// Which; `None`: all real-time threads of programs.
    pub threads: Option<Select>,
    /// A longer response is late; `None`: one that is longer than the thread's own period, or than its history.
    pub deadline: Option<Ns>,
}

impl WatchRule {
    /// True of a thread of this id and name, if it is real-time where the rule is for all of these.
    pub fn fits(&self, tid: Tid, comm: &str) -> bool {
        self.threads.as_ref().is_none_or(|threads| threads.is(tid, comm))
    }
}

/// Where a watch is kept.
#[derive(Clone)]
pub struct WatchKeeping {
    /// The directory. A new watch goes on where an earlier one ended.
    pub directory: PathBuf,
    /// Bytes of all windows together, at most.
    pub max_bytes: u64,
    /// Writes the journal, [`WATCH_FILE`](super::WATCH_FILE), every 10 s and at the end.
    pub journal: fn(&WatchReport) -> Vec<u8>,
    /// Reads the journal of an earlier watch.
    ///
    /// # Errors
    /// Why the text is no journal.
    pub previous: fn(&[u8]) -> Result<PreviousWatch, String>,
}

impl fmt::Debug for WatchKeeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchKeeping").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// What an earlier watch of the same directory left.
#[derive(Clone, Debug, Default)]
pub struct PreviousWatch {
    /// Its groups.
    pub groups: Vec<LateGroup>,
    /// Its windows, the oldest first.
    pub kept: Vec<KeptWindow>,
    /// How many activations were late.
    pub late: u64,
}

/// Flags for the caller's signal handlers.
#[derive(Clone, Debug, Default)]
pub struct WatchSignals {
    /// The watch shall end.
    pub stop: Arc<AtomicBool>,
    /// Set before `stop` where the command did not get the signal as well.
    pub alone: Arc<AtomicBool>,
    /// The rules shall be read again.
    pub reload: Arc<AtomicBool>,
}
