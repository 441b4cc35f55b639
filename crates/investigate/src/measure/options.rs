//! What to measure, under which loads, and where to keep it.

use super::claimed::Wanted;
use super::report::MeasureReport;
use std::fmt;
use std::path::PathBuf;
use whylate_base::{CpuSet, Ns};
use whylate_probes::Probe;
use whylate_probes::load::{Launcher, Load};

/// What to measure, for how long, and whether to explain it.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// The measuring threads. Its `worst` is also how many of all CPUs' worst wake-ups are listed.
    pub probe: Probe,
    /// When to stop; `None` for when the stop flag is set.
    pub duration: Option<Ns>,
    /// Whether a trace is to run along.
    pub trace: bool,
    /// Call stacks of what runs on the measured CPUs, so that an explanation names the line; only with a trace.
    pub stacks: Option<SpikeStacks>,
    /// KiB of each CPU's trace buffer, and again as much for its window; `None` for 4096,
    /// or less on a machine with more than 64 CPUs.
    pub buffer_kib: Option<u64>,
    /// What is to run meanwhile.
    pub loading: Option<Loading>,
    /// Where the run is to leave its traces and its journal while it goes on.
    pub keep: Option<Keeping>,
    /// Hold `/dev/cpu_dma_latency` at so many microseconds; `None`: leave it alone, as an application does.
    pub dma_latency: Option<u32>,
    /// Measure again without the trace, for a shorter time, and report the difference.
    pub observer: bool,
    /// What is claimed.
    pub claim: Option<Wanted>,
    /// A deadline that is judged.
    pub deadline: Option<Ns>,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        MeasureOptions {
            probe: Probe::default(),
            duration: None,
            trace: true,
            stacks: None,
            buffer_kib: None,
            loading: None,
            keep: None,
            dma_latency: None,
            observer: false,
            claim: None,
            deadline: None,
        }
    }
}

/// How call stacks are sampled during a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpikeStacks {
    /// The interval of the samples of a CPU that a program has.
    pub period: Ns,
    /// Directories with separate debug files, besides `/usr/lib/debug`.
    pub symbols: Vec<PathBuf>,
}

/// The loads of a measurement.
#[derive(Clone, Debug)]
pub struct Loading {
    /// Which.
    pub loads: Vec<Load>,
    /// Where; `None`: on all CPUs that this process may use.
    pub cpus: Option<CpuSet>,
    /// How they are started.
    pub launcher: Launcher,
}

/// Where a run is kept.
#[derive(Clone)]
pub struct Keeping {
    /// A directory that has no other run.
    pub directory: PathBuf,
    /// Writes the journal, every 10 s and at the end.
    pub journal: fn(&MeasureReport) -> Vec<u8>,
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeping").field("directory", &self.directory).finish_non_exhaustive()
    }
}
