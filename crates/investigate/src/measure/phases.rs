//! A measurement in phases, idle and under stress, in one run: the acceptance of a machine.

use super::deadline_answer::DeadlineAnswer;
use super::options::{Loading, MeasureOptions};
use super::phase::{MeasuredPhase, Phase, PhaseShift};
use super::report::MeasureReport;
use super::run::{MeasureError, Progress, measure};
use super::steady_name::steady_name;
use std::sync::atomic::{AtomicBool, Ordering};
use whylate_base::Ns;
use whylate_stats::Histogram;

impl MeasuredPhase {
    fn of(phase: Phase, report: &MeasureReport) -> MeasuredPhase {
        let verdict = report.spikes.first().and_then(|spike| spike.answer.as_ref().ok());
        let named = verdict.map(|activation| &activation.verdict).map(|verdict| {
            match verdict.by.as_ref().map(steady_name) {
                Some(by) => format!("{}: {by}", verdict.cause),
                None => verdict.cause.to_string(),
            }
        });
        MeasuredPhase {
            phase,
            elapsed: report.elapsed,
            loads: report.loads.iter().map(|load| load.name.clone()).collect(),
            histogram: report.run().all(),
            over_threshold: report.over_threshold,
            worst_cause: named,
        }
    }
}

/// Measures each phase for the whole duration. The report is that of the last phase, with a summary of all. `stress` has the
/// loads of the phase of that name.
///
/// # Errors
/// As [`measure`].
pub fn measure_phases(
    options: &MeasureOptions,
    phases: &[Phase],
    stress: &Loading,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Option<MeasureReport>, MeasureError> {
    let mut summaries: Vec<MeasuredPhase> = Vec::new();
    let mut last = None;
    for &phase in phases {
        if last.is_some() && stop.load(Ordering::Relaxed) {
            break;
        }
        let loading = (phase == Phase::Stress).then(|| stress.clone());
        let report = measure(&MeasureOptions { loading, ..options.clone() }, stop, progress)?;
        summaries.push(MeasuredPhase::of(phase, &report));
        last = Some(report);
    }
    Ok(last.map(|report| with_phases(report, summaries, phases.len(), options.deadline)))
}

fn with_phases(
    mut report: MeasureReport,
    summaries: Vec<MeasuredPhase>,
    wanted: usize,
    deadline: Option<Ns>,
) -> MeasureReport {
    let mut all = Histogram::default();
    summaries.iter().for_each(|phase| all.merge(&phase.histogram));
    report.deadline = deadline.map(|deadline| DeadlineAnswer::of(&report, &all, deadline));
    report.phase_shift = match summaries.as_slice() {
        [first, .., last] => Some(PhaseShift::between(first, last)),
        _ => None,
    };
    if summaries.len() < wanted {
        report.observer.push("it was ended before all phases were measured".to_owned());
    }
    report.phases = summaries;
    report
}
