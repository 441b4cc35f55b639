//! What a sweep shows: its combinations, and which of them do the same.

use super::outcome::SweepOutcome;
use whylate_base::Ns;

/// What a sweep shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The settings that are swept.
    pub keys: Vec<String>,
    /// The names of the chosen threads.
    pub threads: Vec<String>,
    /// Their deadlines.
    pub deadlines: Vec<Option<Ns>>,
    /// The names of all threads; combinations name them by their index.
    pub names: Vec<String>,
    /// Without the sweep's changes.
    pub as_is: SweepOutcome,
    /// The combinations, the last setting changes first.
    pub combinations: Vec<Combination>,
    /// The combinations that were run, grouped by what they do, worst first.
    pub groups: Vec<SweepGroup>,
    /// The worst and the best combination; `None` where none was run.
    pub ends: Option<(usize, usize)>,
    /// What is left out, and why.
    pub notes: Vec<String>,
}

/// One combination.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// The value of each setting.
    pub values: Vec<String>,
    /// What it does, or why it cannot be; `None` where the sweep was interrupted before.
    pub outcome: Option<Result<SweepOutcome, String>>,
}

impl Combination {
    /// Deadlines that the chosen threads miss.
    pub fn missed(&self) -> u64 {
        let done = self.outcome.as_ref().and_then(|outcome| outcome.as_ref().ok());
        done.map_or(0, |outcome| outcome.threads.iter().map(|thread| thread.missed).sum())
    }
}

impl Sweep {
    /// True where it was interrupted before all combinations were run.
    pub fn is_cut_short(&self) -> bool {
        self.combinations.iter().any(|one| one.outcome.is_none())
    }

    /// What a combination does, where it was run.
    pub fn outcome(&self, at: usize) -> Option<&SweepOutcome> {
        self.combinations.get(at)?.outcome.as_ref()?.as_ref().ok()
    }
}

/// Combinations that do the same to the chosen threads, the worst group first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepGroup {
    /// The combinations, in the order in which they are swept.
    pub members: Vec<usize>,
}
