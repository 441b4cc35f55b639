//! `whylate record`: a trace of the machine, or of a command on it, for the ledger.
//!
//! ```text
//! Session: two tracing instances of our own, one clock
//!   main      every CPU: switches, wake-ups, interrupts, timers, locks   + facts as markers
//!   threads   COMMAND's threads and all real-time ones: system calls and page faults
//!   facts     the markers, of every CPU, where only some CPUs are recorded
//!   stacks    perf software events of the same threads: call stacks, where they are asked for
//!      │ raw pages, while it runs
//!   Drain: one unnamed file per CPU next to the output
//!      │ at the end
//!   trace.dat v7 with two buffers, renamed into place
//! ```
//!
//! Nothing on the machine is changed: the instances are ours and are gone afterwards,
//! whichever way it ends (see [`whylate_ftrace::tracefs`]).

mod affinity;
mod affinity_watch;
mod asked;
mod chosen_cpus;
mod command;
mod drain;
mod error;
mod events;
mod facts;
mod functions;
mod kernel;
mod options;
mod probes;
mod report;
mod run;
mod session;
mod stacks;
mod threads;

pub(crate) use command::Workload;
pub use error::RecordError;
pub(crate) use events::THREADS as THREAD_EVENTS;
pub use options::{RecordOptions, Stop};
pub use report::{CpuReport, RecordReport};
pub use run::record;
pub(crate) use run::record_watched;
pub use session::{Session, SessionOptions};
pub use stacks::StackOptions;
pub(crate) use stacks::{notes as stack_notes, tracepoint};
pub(crate) use threads::threads_of;
pub use threads::{RtThread, real_time_threads};
