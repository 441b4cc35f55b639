//! `whylate compare`: did it become better or worse, by more than chance, and what changed between?
//!
//! ```text
//! Run ─> Prepared: threads summed up, tails fitted once, for all below and for plots
//! Prepared ... ─> pair: each later one beside the first: quantiles, tails, maxima ─> judge: TailVerdict, RunVerdict
//!              ├> causes: which spikes' causes are gone, which are new
//!              └> settings: what differs in the machine
//! Run + Gate ──> met, missed, cannot tell
//! ```

mod causes;
mod difference;
mod gate;
mod judge;
mod pair;
mod prepared;
mod settings;
mod verdict;

pub use causes::{CauseShift, Seen};
pub use difference::Difference;
pub use gate::{Gate, GateAnswer, GateError, Judged, Statistic};
pub use pair::Pair;
pub use prepared::{Prepared, Samples};
pub use settings::{SettingShift, Settings};
pub use verdict::{RunVerdict, TailVerdict};

/// Runs beside the first of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// All of them; the first is what the others are compared with.
    pub runs: Vec<Prepared>,
    /// Each but the first, in order.
    pub pairs: Vec<Pair>,
}

/// Puts each run beside the first.
pub fn compare(runs: Vec<Prepared>) -> Comparison {
    let pairs =
        runs.split_first().map(|(first, others)| others.iter().map(|other| Pair::of(first, other)).collect());
    Comparison { pairs: pairs.unwrap_or_default(), runs }
}

#[cfg(test)]
mod tests;
