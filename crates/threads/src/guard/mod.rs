//! Finds threads that are runnable and get no CPU, names what has it, and lends them a bounded share of it.
//!
//! ```text
//! session ─> look      /proc: the runnable threads, and for how long each has run
//!         ─> waiting   which of them have not run since when;  quota: those that their control group's quota stops
//!         ─> cpu_hog   what ran on their CPU meanwhile
//!         ─> loans     who has been lent what;  lend: SCHED_DEADLINE, else SCHED_FIFO, and the own policy again
//!              └─ journal in /run, written before;  watchdog: a process that restores by it when this one is killed
//! ```

mod cpu_hog;
mod error;
mod event;
mod journal;
mod lend;
mod loans;
mod look;
mod options;
mod own_thread;
mod quota;
mod session;
mod unit;
mod waiting;
mod watchdog;

pub use cpu_hog::CpuHog;
pub use error::GuardError;
pub use event::{BoostEnd, GuardCounts, GuardEvent, StarvingThread, ThreadEvent, ThreadEventKind};
pub use look::WatchedThread;
pub use options::{BoostOptions, GuardOptions, ThresholdRule};
pub use session::guard;
pub use unit::unit;
pub use watchdog::watch;
