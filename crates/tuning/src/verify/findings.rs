//! What a verification finds.

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The applies that are in effect.
    pub ids: Vec<u64>,
    /// What is not as it was made.
    pub drifts: Vec<Drift>,
    /// What cannot be told, and why.
    pub unknown: Vec<(String, String)>,
    /// Kernel parameters that count from the next boot on.
    pub pending: Vec<String>,
    /// What the same wishes would change now and no apply has made: threads, interrupts and devices that came since.
    /// It is no drift, as it never was otherwise.
    pub uncovered: Vec<Uncovered>,
    /// How many cells are as they were made.
    pub as_made: usize,
    /// Threads that have ended since.
    pub ended: usize,
}

/// Something that is not as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The apply that made it.
    pub id: u64,
    /// What.
    pub what: String,
    /// The settings it is for, by name.
    pub settings: Vec<String>,
    /// How it was before the apply; `None`: not known.
    pub before: Option<String>,
    /// How it was made.
    pub made: String,
    /// How it is.
    pub now: String,
    /// Who changed it, or may have; empty: not known.
    pub who: Vec<String>,
}

/// Something that is as nobody wished, and that no apply has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// Which setting, by name.
    pub setting: String,
    /// How it is; `None`: it is not there.
    pub now: Option<String>,
    /// How it is wished; `None`: not to be there.
    pub desired: Option<String>,
}
