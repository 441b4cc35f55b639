//! What a comparison concludes: first of the tail, which decides for real-time work, then of what is usual.

/// Whether the second run is better than the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunVerdict {
    /// A part is better, and none is worse.
    Better,
    /// A part is worse, and none is better.
    Worse,
    /// Some are better, others worse.
    Mixed,
    /// No difference is shown.
    #[default]
    Same,
    /// They cannot be compared; the pair has the reason.
    CannotTell,
}

/// Whether the latest samples of the second run, from the 99th percentile on, are better than those of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailVerdict {
    /// They are less late, or fewer.
    Better,
    /// They are later, or more.
    Worse,
    /// Some are better, others worse.
    Mixed,
    /// There are enough samples, and no difference is shown.
    Same,
    /// There are too few samples.
    TooFew {
        /// So many more of each run are needed at least.
        more: u64,
    },
    /// How late the latest samples were is not known.
    CannotTell,
}

/// Evidence for and against the second run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    pub(super) better: bool,
    pub(super) worse: bool,
}

impl Evidence {
    pub(super) fn add(&mut self, is_worse: bool) {
        self.better |= !is_worse;
        self.worse |= is_worse;
    }

    pub(super) fn verdict(self) -> RunVerdict {
        match (self.better, self.worse) {
            (true, true) => RunVerdict::Mixed,
            (true, false) => RunVerdict::Better,
            (false, true) => RunVerdict::Worse,
            (false, false) => RunVerdict::Same,
        }
    }
}

impl TailVerdict {
    /// What evidence shows.
    pub(super) fn of(shown: RunVerdict) -> TailVerdict {
        match shown {
            RunVerdict::Better => TailVerdict::Better,
            RunVerdict::Worse => TailVerdict::Worse,
            RunVerdict::Mixed => TailVerdict::Mixed,
            RunVerdict::Same => TailVerdict::Same,
            RunVerdict::CannotTell => TailVerdict::CannotTell,
        }
    }
}

impl RunVerdict {
    /// Of both parts. With a larger maximum the second run is not better for its usual latency alone.
    pub(super) fn of(tail: TailVerdict, usual: RunVerdict, is_max_larger: bool) -> RunVerdict {
        use RunVerdict::{Better, CannotTell, Mixed, Same, Worse};
        match (tail, usual) {
            (TailVerdict::Mixed, _) | (_, Mixed) => Mixed,
            (TailVerdict::Better, Worse) | (TailVerdict::Worse, Better) => Mixed,
            (TailVerdict::Worse, _) | (_, Worse) => Worse,
            (TailVerdict::TooFew { .. } | TailVerdict::CannotTell, _) | (_, CannotTell) => CannotTell,
            (TailVerdict::Same, Better) if is_max_larger => Same,
            (TailVerdict::Better, _) | (_, Better) => Better,
            (TailVerdict::Same, Same) => Same,
        }
    }
}
