//! A prediction and the truth, compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The response times of a thread, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Responses {
    /// How many jobs.
    pub jobs: u64,
    /// The median.
    pub p50: i64,
    /// `None`: too few jobs.
    pub p99: Option<i64>,
    /// The longest.
    pub max: i64,
}

/// What became of the longest response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Shorter.
    Shorter,
    /// The same, within a tenth or 50 us.
    Same,
    /// Longer.
    Longer,
}

/// One thread: before, predicted, after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThreadPrediction {
    /// Its name.
    pub name: String,
    /// Whether it is the scenario's late thread.
    pub victim: bool,
    /// In the recording before the change.
    pub before: Responses,
    /// By the simulator, from that recording.
    pub predicted: Responses,
    /// In the recording after the change.
    pub after: Responses,
    /// The error of the replay without a change: of the longest response, as a share of it.
    pub replay_error: Option<f64>,
    /// Predicted less recorded, as a share of the recorded one.
    pub p50_error: f64,
    /// The same of the 99th percentile; `None`: too few jobs.
    pub p99_error: Option<f64>,
    /// The same of the longest response.
    pub max_error: f64,
    /// The predicted direction of the longest response.
    pub predicted_direction: Direction,
    /// The true one.
    pub direction: Direction,
    /// The cause of the longest response by the simulated ledger; `None`: it is not late.
    pub predicted_cause: Option<String>,
    /// The true one.
    pub cause: Option<String>,
}

/// A difference below these two is none.
const SAME_SHARE: f64 = 0.1;
const SAME_NS: i64 = 50_000;

/// From one longest response to another.
pub(super) fn direction(before: i64, after: i64) -> Direction {
    let same = (before.abs() as f64 * SAME_SHARE).max(SAME_NS as f64);
    match after - before {
        difference if (difference.abs() as f64) <= same => Direction::Same,
        difference if difference < 0 => Direction::Shorter,
        _ => Direction::Longer,
    }
}

/// Predicted less true, as a share of the true one.
pub(super) fn error(predicted: i64, after: i64) -> f64 {
    (predicted - after) as f64 / (after.max(1)) as f64
}

impl ThreadPrediction {
    /// True where the cause of the longest response is right, or neither is late.
    pub fn cause_right(&self) -> bool {
        self.predicted_cause == self.cause
    }

    /// True where the direction is right.
    pub fn direction_right(&self) -> bool {
        self.predicted_direction == self.direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_have_no_direction() {
        for (before, after, expected) in [
            (1_000_000, 1_090_000, Direction::Same),
            (1_000_000, 1_200_000, Direction::Longer),
            (1_000_000, 500_000, Direction::Shorter),
            (200_000, 240_000, Direction::Same),
            (0, 0, Direction::Same),
        ] {
            assert_eq!(direction(before, after), expected, "{before} {after}");
        }
        assert!((error(120, 100) - 0.2).abs() < 1e-9);
        assert!((error(5, 0) - 5.0).abs() < 1e-9);
    }
}
