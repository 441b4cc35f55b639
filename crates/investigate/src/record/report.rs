//! What a recording has in it.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_events::Stacks;

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
    /// What each CPU recorded, over all buffers, in CPU order.
    pub cpus: Vec<CpuReport>,
    /// The CPUs that were recorded; `None` where all were.
    pub only: Option<CpuSet>,
    /// What was not recorded and why, and what was found on the way, in sentences.
    pub notes: Vec<String>,
    /// How the command ended; `None` without one, or when it still runs.
    pub child: Option<ExitStatus>,
    /// The call stacks that were sampled.
    pub stacks: Option<Arc<Stacks>>,
    /// Why the recording ended before it should: its pages could not be put aside any more.
    pub ended_early: Option<String>,
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
