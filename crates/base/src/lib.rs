//! The types that all whylate crates share: time, CPUs, threads, priorities, findings.
//!
//! This crate does no I/O. Units are newtypes, so that a CPU is never
//! confused with a thread id, or microseconds with nanoseconds.

pub mod bundle;

mod action;
mod calendar;
mod cpu;
mod finding;
mod glob;
mod natural;
mod printable;
mod priority;
mod release;
mod shell_word;
mod source_location;
mod systemd;
mod text;
mod time;

pub use action::{Action, AdvisedFix, IrqAction, ParameterAction, ThreadAction, TunableAction, UnitAction};
pub use calendar::gregorian_date;
pub use cpu::{Cpu, CpuSet, CpuSetError};
pub use finding::{Confidence, Evidence, Finding, Severity};
pub use glob::glob;
pub use natural::natural;
pub use printable::{is_unprintable, printable, printable_lines};
pub use priority::{Policy, Priority, SchedClass};
pub use release::release_version;
pub use shell_word::shell_word;
pub use source_location::SourceLocation;
pub use systemd::{systemd_service, systemd_word};
pub use text::{Comm, Text};
pub use time::{Ns, ParseDurationError, parse_duration};

use serde::{Deserialize, Serialize};
use std::fmt;

/// A kernel thread id, what `gettid(2)` returns. Thread 0 is the idle task of every CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tid(pub i32);

impl Tid {
    /// The idle task (`swapper/N`), which every CPU has under the same id.
    pub const IDLE: Tid = Tid(0);

    /// True for the idle task.
    pub fn is_idle(self) -> bool {
        self == Tid::IDLE
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
