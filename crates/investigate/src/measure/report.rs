//! The result of a measurement: plain data for the renderers.

use super::deadline_answer::DeadlineAnswer;
use super::groups::SpikeGroup;
use super::observed::Observed;
use super::phase::{MeasuredPhase, PhaseShift};
use super::spike::ExplainedSpike;
use super::steady_name::steady_name;
use super::tail::TailEstimate;
use std::sync::Arc;
use whylate_base::{Finding, Ns};
use whylate_events::Stacks;
use whylate_probes::load::LoadReport;
use whylate_probes::{CpuResult, Degraded, Probe};
use whylate_stats::{Late, Run};

/// A measurement, whole or cut short by the user.
#[derive(Clone, Debug)]
pub struct MeasureReport {
    /// The probe that was requested.
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
    /// Findings of the traced windows beyond single wake-ups, gravest first.
    pub findings: Vec<Finding>,
    /// Whether a trace was recorded.
    pub trace: TraceState,
    /// The call stacks of the spikes, where they were sampled; known at the end.
    pub stacks: Option<Arc<Stacks>>,
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
    /// Estimates beyond the samples, and whether the claim holds; `None` while it runs.
    pub tail: Option<TailEstimate>,
    /// What the trace changed, where that was measured.
    pub observed: Option<Observed>,
    /// The phases of which this is the last; empty where there was one only.
    pub phases: Vec<MeasuredPhase>,
    /// How the last phase differs from the first.
    pub phase_shift: Option<PhaseShift>,
    /// Whether the deadline is kept, and which approach suits it; `None` without one, and while it runs.
    pub deadline: Option<DeadlineAnswer>,
    /// False for a look at a measurement that goes on.
    pub is_complete: bool,
}

impl MeasureReport {
    /// As a run, to be compared and claimed by.
    pub fn run(&self) -> Run {
        let late = |spike: &ExplainedSpike| {
            let verdict = spike.answer.as_ref().ok().map(|activation| &activation.verdict);
            Late {
                cpu: Some(spike.measured.cpu),
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

/// Whether a trace was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceState {
    /// It was.
    Recorded {
        /// Events the kernel recorded, all but a few of them forgotten again.
        events: u64,
        /// What was not recorded and why, in sentences.
        notes: Vec<String>,
    },
    /// It was not wanted.
    Off,
    /// It could not be, or it failed; the sentence has what is missing and how to get it.
    Unavailable(String),
}
