//! `whylate record`: a trace of the machine, or of a command on it, for the ledger.
//!
//! ```text
//! Session: two tracing instances of our own, one clock
//!   main      every CPU: switches, wake-ups, interrupts, timers, locks   + facts as markers
//!   threads   COMMAND's threads and all real-time ones: system calls and page faults
//!      │ raw pages, while it runs
//!   Drain: one unnamed file per CPU next to the output
//!      │ at the end
//!   trace.dat v7 with two buffers, renamed into place
//! ```
//!
//! Nothing on the machine is changed: the instances are ours and are gone afterwards,
//! whichever way it ends (see [`whylate_ftrace::tracefs`]).

mod affinity;
mod asked;
mod command;
mod drain;
mod events;
mod facts;
mod kernel;
mod session;
mod threads;

pub use session::{Session, SessionOptions};
pub use threads::{RtThread, real_time_threads};

use affinity::AffinityWatch;
use command::Workload;
use drain::Drain;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use whylate_base::{Cpu, Ns};
use whylate_ftrace::dat::write::{self, WriteError};
use whylate_ftrace::tracefs::TracefsError;

/// What to record, and where to.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// The trace.dat to write. It is replaced when the new one is complete.
    pub output: PathBuf,
    /// When to stop; `None`: when the command ends or the stop flag is set.
    pub duration: Option<Duration>,
    /// A program with its arguments, to start once tracing is on. The recording ends when it does.
    pub command: Option<Vec<OsString>>,
    /// How to trace.
    pub session: SessionOptions,
}

/// How a recording is told to end: flags for the caller's signal handlers.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// The recording shall end.
    pub asked: Arc<AtomicBool>,
    /// Set before `asked` when the command was not told as well. Ctrl-C on a terminal tells the
    /// command too, which may then end in its own way; what a service manager or `timeout` sends
    /// may reach this process alone.
    pub alone: Arc<AtomicBool>,
}

impl Stop {
    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// True when the command has been told by whoever told us.
    fn command_knows(&self) -> bool {
        self.is_asked() && !self.alone.load(Ordering::Acquire)
    }
}

/// What was recorded.
#[derive(Clone, Debug)]
pub struct RecordReport {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How long tracing was on.
    pub duration: Ns,
    /// The clock its times are in.
    pub clock: String,
    /// What each CPU recorded, over both buffers, in CPU order.
    pub cpus: Vec<CpuReport>,
    /// What was not recorded and why, and what was found on the way, in sentences.
    pub notes: Vec<String>,
    /// How the command ended; `None` without one, or when it still runs.
    pub child: Option<ExitStatus>,
}

/// One CPU's share of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuReport {
    /// Which CPU.
    pub cpu: Cpu,
    /// Events in the file.
    pub events: u64,
    /// Events that happened and are not in the file.
    pub lost: u64,
}

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Tracing could not be set up, or stopped working.
    #[error(transparent)]
    Tracefs(#[from] TracefsError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The clock asked for is not among the kernel's.
    #[error("this kernel has no trace clock {clock}; it has: {available}")]
    NoSuchClock {
        /// As asked for.
        clock: String,
        /// The kernel's, separated by blanks.
        available: String,
    },
    /// An event asked for is not among the kernel's.
    #[error("this kernel has no event {event}; {advice}")]
    NoSuchEvent {
        /// As asked for.
        event: String,
        /// What to ask for instead.
        advice: String,
    },
    /// The command could not be started.
    #[error("cannot run {program}: {why}")]
    Command {
        /// The program asked for.
        program: String,
        /// In words.
        why: String,
    },
    /// A page could not be put aside while recording: a full disk, for one.
    #[error("cannot store recorded pages in {}", directory.display())]
    Store {
        /// Where the output goes.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Records until the duration is over, the command has ended, or it is told to stop,
/// whichever is first; then writes the file.
///
/// A command that still runs then is sent SIGTERM, because a recording leaves nothing behind:
/// at once, or where it was told as well ([`Stop::alone`]) after some time to end by itself.
///
/// # Errors
/// [`RecordError`]. No file is written then, and nothing of the tracing is left.
pub fn record(options: &RecordOptions, stop: &Stop) -> Result<RecordReport, RecordError> {
    let directory = write::check_output(&options.output)?;
    let mut session = Session::start(&options.session, options.command.is_some())?;
    let mut drain = Drain::new(&session, directory)?;
    let started = Instant::now();
    let mut workload = match &options.command {
        Some(command) => Some(Workload::start(command, &mut session)?),
        None => None,
    };
    let mut affinity = AffinityWatch::new(&session);
    let mut ended = Ok(Duration::ZERO);
    drain.run(|| {
        let gone = started.elapsed();
        let left = options.duration.map_or(Some(Duration::MAX), |duration| duration.checked_sub(gone));
        if stop.is_asked()
            || left.is_none_or(|left| left.is_zero())
            || workload.as_mut().is_some_and(Workload::has_ended)
        {
            ended = session.stop().map(|()| gone);
            return None;
        }
        affinity.look(&mut session);
        left
    })?;
    let duration = Ns(i64::try_from(ended?.as_nanos()).unwrap_or(i64::MAX));
    drain.rest()?;
    if let Some(workload) = workload.as_mut().filter(|_| !stop.command_knows()) {
        workload.terminate();
    }
    let description = session.describe()?;
    let (stats, cpus) = drain.stats(&session)?;
    let bytes = write::write_file(&options.output, &description, &drain.buffers(&session, &stats))?;
    let child = workload.and_then(|workload| workload.finish(&mut session));
    let (clock, notes) = (session.clock().to_owned(), session.take_notes());
    Ok(RecordReport { path: options.output.clone(), bytes, duration, clock, cpus, notes, child })
}
