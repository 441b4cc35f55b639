//! What to examine.

use super::target::DoctorTarget;
use std::path::PathBuf;
use std::time::Duration;
use whylate_base::Ns;
use whylate_stacks::ClockPeriod;

/// What is not seen where call stacks cannot be sampled.
pub(super) const NO_STACKS: &str = "page faults and the program's lines were not seen";

/// What to examine, and for how long.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// The program.
    pub target: DoctorTarget,
    /// Whether the command's standard output goes to standard error, which leaves standard output to a report for programs.
    pub command_to_stderr: bool,
    /// When to stop; `None`: when the program ends, or at the stop flag.
    pub duration: Option<Duration>,
    /// Directories with separate debug files, besides `/usr/lib/debug`.
    pub symbols: Vec<PathBuf>,
}

/// What a thread spends its CPU time with is only looked at for spin locks, and for loops that read a clock: both take the CPU for
/// long, so that few samples show them. Fewer than 1 % of a thread's short activations are interrupted.
pub(super) const CLOCK_PERIOD: ClockPeriod = ClockPeriod::Exactly(Ns::from_ms(25));

/// What it means that a call stack was lost.
pub(super) const LOST_STACKS: &str = "page faults may be missing, and lines of system calls";
