//! What to change, what to measure, and for how long.

use crate::report::RoundSummary;
use crate::subject::Subject;
use std::ffi::OsString;
use whylate_base::{CpuSet, Ns};
use whylate_host::{FsRoot, Snapshot};
use whylate_investigate::measure::Loading;
use whylate_profiles::DesiredState;
use whylate_tuning::{AllowedRefusals, JournalStore, LiveSystem};

/// Gives the change for the machine as it is now: threads are found by name, and those of a command run only later.
///
/// # Errors
/// Why it cannot be made now.
pub type ChangeSource<'a> = &'a dyn Fn(&FsRoot, &Snapshot) -> Result<DesiredState, String>;

/// The machine, and its journals.
#[derive(Clone, Copy)]
pub struct MachineAccess<'a> {
    /// The machine.
    pub system: &'a LiveSystem,
    /// Its journals.
    pub store: &'a JournalStore,
    /// Refusals that the user overrides.
    pub allowed: &'a AllowedRefusals,
    /// The command line of the process that restores the machine where this one is killed: it calls
    /// [`restore_at_end`](crate::restore_at_end).
    pub watchdog: &'a [OsString],
}

/// What to measure, and for how long.
#[derive(Clone, Debug)]
pub struct ProveOptions {
    /// What the change is to improve.
    pub subject: Subject,
    /// What runs in each round, and how it is started.
    pub command: Option<Loading>,
    /// The command in words, for reports.
    pub command_name: Option<String>,
    /// A shell command whose run time is a side effect.
    pub throughput: Option<String>,
    /// How long a round is measured.
    pub round: Ns,
    /// The most rounds; a multiple of 4.
    pub rounds: usize,
    /// The most time for all rounds.
    pub limit: Ns,
    /// How long a round waits after the command was started, and after the change was made.
    pub settle: Ns,
    /// Keep the change if it is better and has no side effect.
    pub keep: bool,
    /// The CPUs for real-time threads, for the checks that are side effects.
    pub checked_cpus: Option<CpuSet>,
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum ProveProgress<'a> {
    /// The change is not refused: measuring begins.
    Started,
    /// An earlier proof was killed: its change is rolled back, by the number of its apply.
    Restored(u64),
    /// A round was measured.
    Round(&'a RoundSummary),
}
