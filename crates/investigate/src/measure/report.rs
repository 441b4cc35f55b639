//! What a measurement says: plain data for the renderers.

use super::beyond::Beyond;
use super::groups::{SpikeGroup, steady_name};
use super::observed::Observed;
use std::fmt;
use whylate_base::{Cpu, Finding, Ns, Tid};
use whylate_ledger::Activation;
use whylate_probes::load::LoadReport;
use whylate_probes::{CpuResult, Degraded, Probe};
use whylate_stats::{Late, Run};

/// A measurement, whole or cut short by the user.
#[derive(Clone, Debug)]
pub struct MeasureReport {
    /// What was asked for.
    pub probe: Probe,
    /// How long it ran.
    pub elapsed: Ns,
    /// The distribution of each CPU, ascending.
    pub cpus: Vec<CpuResult>,
    /// Wake-ups at least as late as the threshold; `None` without one.
    pub over_threshold: Option<u64>,
    /// The worst wake-ups and those over the threshold, worst first.
    pub spikes: Vec<ExplainedSpike>,
    /// Wake-ups over the threshold beyond those listed.
    pub not_listed: u64,
    /// What the traced windows say beyond single wake-ups, gravest first.
    pub findings: Vec<Finding>,
    /// Whether a trace ran along.
    pub trace: TraceState,
    /// What the measuring threads had to do without.
    pub degraded: Vec<Degraded>,
    /// How the machine was set, by name, as far as it could be read.
    pub machine: Vec<(String, String)>,
    /// What the measurement itself did to the machine, and what that means for the numbers.
    pub observer: Vec<String>,
    /// Spikes by cause and culprit: those over the threshold, listed or not; without one those listed.
    pub groups: Vec<SpikeGroup>,
    /// The loads that ran meanwhile.
    pub loads: Vec<LoadReport>,
    /// What lies beyond what was seen, and whether what was claimed holds; `None` while it runs.
    pub beyond: Option<Beyond>,
    /// What the trace changed, where that was measured.
    pub observed: Option<Observed>,
    /// False for a look at a measurement that goes on.
    pub is_complete: bool,
}

impl MeasureReport {
    /// As a run, to be compared and claimed by.
    pub fn run(&self) -> Run {
        let late = |spike: &ExplainedSpike| {
            let verdict = spike.answer.as_ref().ok().map(|activation| &activation.verdict);
            Late {
                cpu: Some(spike.cpu),
                latency: spike.latency(),
                cause: verdict.map(|verdict| verdict.cause.code().to_owned()),
                culprit: verdict.and_then(|verdict| verdict.by.as_ref()).map(steady_name),
            }
        };
        Run {
            label: String::new(),
            tool: "whylate measure".to_owned(),
            probe: self.probe.kind.to_string(),
            interval: Some(self.probe.interval),
            elapsed: Some(self.elapsed),
            threads: self
                .cpus
                .iter()
                .filter(|cpu| cpu.histogram.count() > 0)
                .map(CpuResult::measured)
                .collect(),
            spikes: (self.probe.worst > 0 || self.over_threshold.is_some())
                .then(|| self.spikes.iter().map(late).collect()),
            machine: self.machine.clone(),
            notes: Vec::new(),
        }
    }
}

/// A file with the trace around a spike, in the directory of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Why a wake-up is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpikeKind {
    /// At least as late as the threshold.
    OverThreshold,
    /// Among the worst.
    Worst,
    /// The thread had still not run when the measurement ended; its latency is a lower bound.
    Stuck,
}

/// A late wake-up with its explanation.
#[derive(Clone, Debug)]
pub struct ExplainedSpike {
    /// The CPU.
    pub cpu: Cpu,
    /// Its measuring thread.
    pub tid: Tid,
    /// Why it is listed.
    pub kind: SpikeKind,
    /// When the thread was to wake, on CLOCK_MONOTONIC, the trace's clock.
    pub due: Ns,
    /// When it read the clock after its sleep; of a stuck thread, when the measurement ended.
    pub woken: Ns,
    /// What the trace shows of it, with ledger and verdict, or why that is not known.
    pub answer: Result<Activation, NotExplained>,
    /// Where its trace is saved; `None`: it is not.
    pub saved: Option<Saved>,
}

impl ExplainedSpike {
    /// How late it was, as the thread itself measured it.
    pub fn latency(&self) -> Ns {
        self.woken - self.due
    }
}

/// Why a wake-up has no explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExplained {
    /// No trace ran along; [`MeasureReport::trace`] says why.
    NoTrace,
    /// Its turn has not come: of a measurement that goes on.
    NotYet,
    /// The kernel had overwritten the moment before it was read.
    Overwritten {
        /// From here on the CPU's events are known; `None` when there are none.
        begins: Option<Ns>,
    },
    /// The window is there, but shows no such wake-up.
    NotFound,
    /// Its window was given up for those of worse wake-ups: memory stays bounded.
    GivenUp,
    /// The window could not be read.
    Unreadable(String),
}

impl fmt::Display for NotExplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotExplained::NoTrace => f.write_str("no trace ran along"),
            NotExplained::NotYet => f.write_str("its turn had not come when this was written"),
            NotExplained::Overwritten { .. } => f.write_str(
                "the kernel had overwritten this moment before it could be read: give it a larger buffer \
                 (--buffer), or leave the recorder a CPU that is not fully used",
            ),
            NotExplained::NotFound => f.write_str("the trace of this moment does not show the wake-up"),
            NotExplained::GivenUp => {
                f.write_str("its trace was given up to keep memory bounded: raise --threshold to keep fewer")
            }
            NotExplained::Unreadable(why) => write!(f, "the trace of this moment could not be read: {why}"),
        }
    }
}

/// Whether a trace ran along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceState {
    /// It did.
    Recorded {
        /// Events the kernel recorded, all but a few of them forgotten again.
        events: u64,
        /// What was not recorded and why, in sentences.
        notes: Vec<String>,
    },
    /// It was not wanted.
    Off,
    /// It could not, or stopped working; the sentence says what is missing and how to get it.
    Unavailable(String),
}
