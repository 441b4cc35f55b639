//! `whylate compare`: did it become better or worse, by more than chance, and what changed between?
//!
//! ```text
//! Run, Run ... ─> pair: each later one beside the first: quantiles, tails, maxima ─> Verdict
//!              ├> causes: which spikes' causes are gone, which are new
//!              └> settings: what differs in the machine
//! Run + Gate ──> met, missed, cannot tell
//! ```

mod causes;
mod gate;
mod pair;
mod settings;

pub use causes::{CauseShift, Seen};
pub use gate::{Gate, GateAnswer, GateError, Judged, Statistic};
pub use pair::{Pair, Part, Verdict};
pub use settings::SettingShift;
use whylate_stats::Run;

/// Runs beside the first of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// All of them; the first is what the others are compared with.
    pub runs: Vec<Run>,
    /// Each but the first, in order.
    pub pairs: Vec<Pair>,
}

/// Puts each run beside the first.
pub fn compare(runs: Vec<Run>) -> Comparison {
    let pairs =
        runs.split_first().map(|(first, others)| others.iter().map(|other| Pair::of(first, other)).collect());
    Comparison { pairs: pairs.unwrap_or_default(), runs }
}

#[cfg(test)]
mod tests;
