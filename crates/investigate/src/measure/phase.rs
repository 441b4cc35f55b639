//! The phases of a measurement, and how they differ.

use super::observed::{differences, shifts};
use std::fmt;
use std::str::FromStr;
use whylate_base::Ns;
use whylate_stats::Histogram;
use whylate_stats::compare::{Shift, Tails};

/// A phase of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Without a load of whylate.
    Idle,
    /// With loads.
    Stress,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Idle => "idle",
            Phase::Stress => "stress",
        })
    }
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> Result<Phase, String> {
        match text {
            "idle" => Ok(Phase::Idle),
            "stress" => Ok(Phase::Stress),
            _ => Err("the phases are idle and stress".to_owned()),
        }
    }
}

/// A phase that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredPhase {
    /// Which.
    pub phase: Phase,
    /// How long.
    pub elapsed: Ns,
    /// The loads that ran, in words.
    pub loads: Vec<String>,
    /// The samples of all CPUs.
    pub histogram: Histogram,
    /// Samples at least as late as the threshold; `None` without one.
    pub over_threshold: Option<u64>,
    /// The cause of its worst sample and its culprit; `None`: not explained.
    pub worst_cause: Option<String>,
}

/// How the last phase differs from the first.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseShift {
    /// The first phase.
    pub from: Phase,
    /// The last one.
    pub to: Phase,
    /// The quantiles of both.
    pub shifts: Vec<Shift>,
    /// How often both are late.
    pub tails: Option<Tails>,
}

impl PhaseShift {
    pub(super) fn between(first: &MeasuredPhase, last: &MeasuredPhase) -> PhaseShift {
        let (before, after) = (&first.histogram, &last.histogram);
        PhaseShift {
            from: first.phase,
            to: last.phase,
            shifts: shifts(before, after),
            tails: Tails::of(before, after),
        }
    }

    /// What that means, in a sentence.
    pub fn sentence(&self) -> String {
        let (from, to) = (self.from, self.to);
        let differences = differences(&self.shifts, self.tails.as_ref(), &from.to_string(), &to.to_string());
        match (differences.is_empty(), self.shifts.is_empty()) {
            (_, true) => format!("{from} beside {to}: too few samples to show a difference"),
            (true, false) => format!("{from} beside {to}: no difference that chance does not explain"),
            (false, false) => format!("under {to}, {}", differences.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(phase: Phase, seed: u64, base: f64) -> MeasuredPhase {
        let mut random = fastrand::Rng::with_seed(seed);
        MeasuredPhase {
            phase,
            elapsed: Ns::from_secs(1),
            loads: Vec::new(),
            histogram: (0..20_000).map(|_| Ns((base - 1_000.0 * (1.0 - random.f64()).ln()) as i64)).collect(),
            over_threshold: None,
            worst_cause: None,
        }
    }

    #[test]
    fn a_difference_between_phases_is_named_and_none_is_not() {
        let idle = phase(Phase::Idle, 1, 2_000.0);
        let same = PhaseShift::between(&idle, &phase(Phase::Stress, 2, 2_000.0)).sentence();
        assert!(same.contains("no difference"), "{same}");
        let later = PhaseShift::between(&idle, &phase(Phase::Stress, 2, 2_700.0)).sentence();
        assert!(later.starts_with("under stress, ") && later.contains("above idle"), "{later}");
        let none = MeasuredPhase { histogram: Histogram::default(), ..idle.clone() };
        assert!(PhaseShift::between(&none, &idle).sentence().contains("too few"));
    }

    #[test]
    fn phases_have_names() {
        assert_eq!("stress".parse(), Ok(Phase::Stress));
        assert!("warm".parse::<Phase>().is_err());
    }
}
