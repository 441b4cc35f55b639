//! The cells of a simulation's table, which all its formats share.

use crate::words;
use whylate_ledger::{Activation, Cause};
use whylate_simulate::bounds::Bound;
use whylate_simulate::{SimulationReport, TaskResult};

/// The columns behind a task's name.
pub(super) const COLUMNS: [&str; 9] =
    ["policy", "jobs", "p50", "p99", "max", "bound", "deadline", "missed", "worst cause"];

/// `Linux 6.1 · 1 CPU · 10.00 s · seed 0`.
pub(super) fn about(report: &SimulationReport) -> Vec<String> {
    let is_drawn = report.replay.as_ref().is_none_or(|replay| replay.mean.is_some());
    let what = match (&report.replay, is_drawn) {
        (None, _) => "simulation",
        (Some(_), true) => "mean model",
        (Some(_), false) => "replay",
    };
    let rt = if report.machine.preempt_rt { " PREEMPT_RT" } else { "" };
    let mut facts = vec![
        format!("{what} of Linux {}{rt}", report.machine.kernel),
        words::plural(report.machine.cpus.into(), "CPU"),
        report.options.duration.to_string(),
    ];
    if is_drawn {
        facts.push(format!("seed {}", report.options.seed));
    }
    facts
}

/// The cells of [`COLUMNS`].
pub(super) fn cells(report: &SimulationReport, task: &TaskResult) -> [String; 9] {
    let responses = task.tally.responses();
    [
        words::scheduling(Some(task.scheduling.policy()), task.scheduling.priority()),
        words::count(task.tally.jobs),
        words::known(responses.median()),
        words::known(responses.tail(0.99)),
        words::known(task.tally.worst()),
        words::known(task.bound.response()),
        words::known(task.deadline),
        words::count(task.tally.missed),
        worst_cause(report, task).map_or_else(|| "-".to_owned(), |cause| cause.code().to_owned()),
    ]
}

/// The worst activation of a task.
pub(super) fn worst<'r>(report: &'r SimulationReport, task: &TaskResult) -> Option<&'r Activation> {
    report.explanation.activations.iter().find(|activation| activation.tid == task.tid)
}

fn worst_cause(report: &SimulationReport, task: &TaskResult) -> Option<Cause> {
    worst(report, task).map(|worst| worst.verdict.cause)
}

/// Why tasks have no bound, and the method of the others.
pub(super) fn without_bound(report: &SimulationReport) -> Vec<String> {
    if report.replay.is_some() {
        return Vec::new();
    }
    let reasons = report.tasks.iter().filter_map(|task| match &task.bound {
        Bound::Unknown { reason } => Some(format!("{}: {reason}", task.name)),
        Bound::AtMost { .. } => None,
    });
    reasons.collect()
}
