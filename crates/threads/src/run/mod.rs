//! Starts a program with its policy, CPUs and memory, in the order that cannot hang, and explains what the kernel refuses.
//!
//! * [`RunRequest`]: what is asked for. [`check()`] examines it and changes nothing; [`start()`] becomes the program, or its
//!   parent where something is held for it. [`change()`] changes threads that run already.
//! * Priority comes before affinity: a thread of SCHED_OTHER that is pinned to a CPU on which a SCHED_FIFO thread never
//!   sleeps does not run again, and so never gets to the call that would raise its priority.

mod apply;
mod bandwidth;
mod cgroup;
mod change;
mod check;
mod code;
mod cpus;
mod error;
mod file;
mod hold;
mod irq;
mod journal;
mod latency;
mod limit;
mod new_threads;
mod program;
mod refusal;
mod report;
mod request;
mod running;
mod setting;
mod start;
mod starvation;
mod unit;

pub use cgroup::is_group_name;
pub use check::check;
pub use code::{CodeLanguage, code};
pub use error::RunError;
pub use file::RunFile;
pub use limit::{LimitChange, bytes};
pub use refusal::Refusal;
pub use report::{RunReport, RunStep};
pub use request::RunRequest;
pub use running::{RunTarget, change, check_change};
pub use setting::{ThreadRule, ThreadSetting};
pub use start::start;
pub use unit::unit;
