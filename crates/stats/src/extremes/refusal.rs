//! Why a tail is not fitted, and what would help.

use std::fmt;
use whylate_base::Ns;

/// Why no fit of a tail would mean anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FitRefusal {
    /// There is too little.
    TooFew {
        /// Of what: `samples`.
        what: &'static str,
        /// How many there are.
        have: u64,
        /// How many are needed at least.
        needed: u64,
    },
    /// The tail has only a few different values: it was counted in buckets that are too wide.
    TooCoarse {
        /// So many.
        values: usize,
    },
    /// Some samples are in no bucket.
    OffScale {
        /// So many.
        samples: u64,
    },
    /// The largest is not of the same kind as the rest.
    Outlier {
        /// That one.
        largest: Ns,
    },
    /// Neither the theory's distribution nor the data give way.
    NoFit {
        /// What was to be fitted.
        what: &'static str,
        /// How often chance is as far off.
        p: f64,
    },
    /// The tail is so heavy that any latency may follow.
    TooHeavy {
        /// The fitted shape.
        shape: f64,
    },
    /// The tail ends at once, as that of a sum of causes with bounds of their own does.
    TooAbrupt {
        /// The fitted shape.
        shape: f64,
    },
    /// It becomes worse, or better.
    Trend {
        /// So much each hour.
        per_hour: Ns,
    },
    /// The latest ones come together.
    Clustered {
        /// So many.
        excesses: usize,
        /// In so few blocks.
        blocks: usize,
        /// Of this length.
        length: Ns,
    },
}

impl fmt::Display for FitRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitRefusal::TooFew { what, have, needed } => {
                write!(f, "too few {what}: {have}, and {needed} are needed at least: measure for longer")
            }
            FitRefusal::TooCoarse { values } => write!(
                f,
                "the tail has {values} different values only: it was counted too coarsely (1 us is too coarse for most)"
            ),
            FitRefusal::OffScale { samples } => {
                write!(f, "{samples} samples are beyond the scale: their latencies are unknown")
            }
            FitRefusal::Outlier { largest } => write!(
                f,
                "the largest, {largest}, is not of the same kind as the rest: it has a cause of its own, which is to be \
                 found first"
            ),
            FitRefusal::NoFit { what, p } => write!(
                f,
                "the {what} do not lie as a single cause would make them (p = {p:.2}): several causes are mixed, which \
                 are to be told apart first"
            ),
            FitRefusal::TooHeavy { shape } => {
                write!(
                    f,
                    "the tail is too heavy (shape {shape:.2}) for an estimate of its end: no bound follows"
                )
            }
            FitRefusal::TooAbrupt { shape } => write!(
                f,
                "the tail ends too abruptly (shape {shape:.2}) for its fit to have a known error: several causes are mixed, \
                 or something cuts it off"
            ),
            FitRefusal::Trend { per_hour } if per_hour.0 > 0 => {
                write!(f, "it becomes worse, by {per_hour} an hour: what comes is not what was")
            }
            FitRefusal::Trend { per_hour } => {
                write!(f, "it becomes better, by {} an hour: what comes is not what was", Ns(-per_hour.0))
            }
            FitRefusal::Clustered { excesses, blocks, length } => write!(
                f,
                "the latest {excesses} came together, in {blocks} stretches of {length}: something happened there, \
                 which is to be found first"
            ),
        }
    }
}
