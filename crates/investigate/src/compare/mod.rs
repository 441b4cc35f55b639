//! `whylate compare`: did it become better or worse, by more than chance, and what changed between?
//!
//! ```text
//! Run ─> Prepared: threads summed up, tails fitted once, for all below and for plots
//! Prepared ... ─> pair: each later one beside the first, or two and two: quantiles, tails, maxima ─> judge: TailVerdict, RunVerdict
//!              ├> causes: which spikes' causes are gone, which are new
//!              └> settings: what differs in the machine
//! Run + Gate ──> met, missed, cannot tell
//! MachineRun ... ─> groups: machines of one kernel beside those of another
//! ```

mod causes;
mod difference;
mod gate;
pub mod groups;
mod judge;
mod pair;
mod prepared;
mod settings;
mod summaries;
mod verdict;

pub use causes::{CauseShift, Seen};
pub use difference::{Difference, moved_between, notable};
pub use gate::{Gate, GateAnswer, GateError, Judged, Statistic};
pub use pair::Pair;
pub use prepared::{Prepared, Samples};
pub use settings::{SettingShift, Settings};
pub use verdict::{RunVerdict, TailVerdict};

/// Runs, two and two side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// All of them.
    pub runs: Vec<Prepared>,
    /// What is compared with what, in order.
    pub pairs: Vec<Pair>,
}

/// Puts each run beside the first.
pub fn compare(runs: Vec<Prepared>) -> Comparison {
    let sides: Vec<(usize, usize)> = (1..runs.len()).map(|after| (0, after)).collect();
    compare_pairs(runs, &sides)
}

/// Puts runs side by side, two and two: before and after, by their places in `runs`. A place beyond them is left out.
pub fn compare_pairs(runs: Vec<Prepared>, sides: &[(usize, usize)]) -> Comparison {
    let pair = |&(before, after): &(usize, usize)| {
        Some(Pair { before, after, ..Pair::of(runs.get(before)?, runs.get(after)?) })
    };
    let pairs = sides.iter().filter_map(pair).collect();
    Comparison { runs, pairs }
}

impl Comparison {
    /// True of a run that others are compared with, and that is compared with none: gates and claims are not asked of it.
    pub fn is_baseline(&self, run: usize) -> bool {
        self.pairs.iter().any(|pair| pair.before == run) && self.pairs.iter().all(|pair| pair.after != run)
    }
}

#[cfg(test)]
mod tests;
