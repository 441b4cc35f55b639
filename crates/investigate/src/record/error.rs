//! Why there is no recording.

use std::io;
use std::path::PathBuf;
use whylate_base::CpuSet;
use whylate_ftrace::tracefs::TracefsError;
use whylate_stacks::ProbedPlace;
use whylate_sys::OutputError;

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Tracing could not be set up, or stopped working.
    #[error(transparent)]
    Tracefs(#[from] TracefsError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] OutputError),
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
    /// The kernel's functions cannot be traced.
    #[error("--functions: {why}; leave it out, or record events (-e) instead")]
    Functions {
        /// In words.
        why: String,
    },
    /// The kernel does not hand lines of `trace_marker` to our instance.
    #[error(
        "this kernel writes lines of trace_marker into its top-level buffer only (Linux 6.16 copies them into others): \
         record with trace-cmd -e sched -e irq -e irq_vectors -e timer, and use --begin-marker with whylate explain"
    )]
    Markers,
    /// A program cannot be probed.
    #[error("{place} cannot be probed")]
    Probe {
        /// Where.
        place: Box<ProbedPlace>,
        /// Why not.
        source: TracefsError,
    },
    /// The machine does not have the CPUs to record, or none of them is online.
    #[error("cannot record CPUs {asked}: {why}; choose of CPUs {online}, which are online")]
    Cpus {
        /// As asked for.
        asked: CpuSet,
        /// In words.
        why: String,
        /// The CPUs that are online.
        online: CpuSet,
    },
    /// The command cannot run as the user asked for.
    #[error("cannot run the command as {user}: {why}")]
    User {
        /// As asked for.
        user: String,
        /// In words.
        why: String,
    },
    /// The command could not be started.
    #[error("cannot run {program}: {why}")]
    Command {
        /// The program asked for.
        program: String,
        /// In words.
        why: String,
    },
    /// Call stacks cannot be sampled.
    #[error(transparent)]
    Stacks(#[from] whylate_stacks::SamplerError),
    /// Samples have times of CLOCK_MONOTONIC.
    #[error(
        "--stacks needs the trace clock mono, because call stacks have its times; the clock is {clock}: leave --clock out"
    )]
    StackClock {
        /// The recording's.
        clock: String,
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
