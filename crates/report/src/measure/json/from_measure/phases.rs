//! The phases of a measurement and its deadline, in the wire's types.

use super::long_run::shift;
use crate::measure::json::document::{Deadline, Distribution, Phase, PhaseShift};
use whylate_investigate::measure as measured;

pub(super) fn phase(phase: &measured::MeasuredPhase, latency_ns: Option<Distribution>) -> Phase {
    Phase {
        phase: phase.phase.to_string(),
        elapsed_ns: phase.elapsed.0,
        loads: phase.loads.clone(),
        samples: phase.histogram.count(),
        latency_ns,
        over_threshold: phase.over_threshold,
        worst_cause: phase.worst_cause.clone(),
    }
}

pub(super) fn phase_shift(between: &measured::PhaseShift) -> PhaseShift {
    PhaseShift {
        from: between.from.to_string(),
        to: between.to.to_string(),
        shifts: between.shifts.iter().map(shift).collect(),
        why: between.sentence(),
    }
}

pub(super) fn deadline(answer: &measured::DeadlineAnswer) -> Deadline {
    Deadline {
        deadline_ns: answer.deadline.0,
        class_ns: answer.class.0,
        kept: answer.is_kept,
        late: answer.late,
        samples: answer.samples,
        approach: answer.approach.code().to_owned(),
        why: answer.reasons.clone(),
    }
}
