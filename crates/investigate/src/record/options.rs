//! What to record, and how to stop a recording.

use super::session::SessionOptions;
use super::stacks::StackOptions;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::Tid;

/// What to record, and where to.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// The trace.dat to write. It is replaced when the new one is complete.
    pub output: PathBuf,
    /// When to stop; `None`: when the command ends or the stop flag is set.
    pub duration: Option<Duration>,
    /// A program with its arguments, to start once tracing is on. The recording ends when it does.
    pub command: Option<Vec<OsString>>,
    /// Processes that run already: all their threads are recorded, and what these start.
    pub processes: Vec<Tid>,
    /// Whether the command's standard output goes to standard error, which leaves standard output to a report for programs.
    pub command_to_stderr: bool,
    /// The user that the command runs as, by name or number; `None`: the same as this process.
    pub user: Option<String>,
    /// How to sample call stacks; `None` samples none.
    pub stacks: Option<StackOptions>,
    /// How to trace.
    pub session: SessionOptions,
}

/// How to stop a recording: flags for the caller's signal handlers.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// The recording shall end.
    pub asked: Arc<AtomicBool>,
    /// Set before `asked` when the command did not get the signal as well. Ctrl-C on a terminal signals the
    /// command too, which may then end in its own way; what a service manager or `timeout` sends
    /// may reach this process alone.
    pub alone: Arc<AtomicBool>,
}

impl Stop {
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// True when the sender of the signal has also sent it to the command.
    pub(crate) fn command_knows(&self) -> bool {
        self.is_asked() && !self.alone.load(Ordering::Acquire)
    }
}
