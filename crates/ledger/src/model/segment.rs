//! The pieces that answers are made of: an interval charged to a cause, a distribution in four numbers.

use super::culprit::Culprit;
use crate::causes::Cause;
use whylate_base::{Confidence, Cpu, Ns};

/// An interval charged to one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The cause.
    pub cause: Cause,
    /// Where it begins.
    pub start: Ns,
    /// Where it ends; the next segment begins here.
    pub end: Ns,
    /// The CPU it happened on.
    pub cpu: Cpu,
    /// What did it.
    pub by: Option<Culprit>,
    /// The owner of the lock that was waited for, where it was one.
    pub owner: Option<Culprit>,
    /// How sure the charge is.
    pub confidence: Confidence,
}

impl Segment {
    /// Its length.
    pub fn length(&self) -> Ns {
        self.end - self.start
    }
}

/// A distribution in four numbers. Minimum and maximum are exact, percentiles within 0.4 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The least.
    pub min: Ns,
    /// The median.
    pub p50: Ns,
    /// The 99th percentile.
    pub p99: Ns,
    /// The most.
    pub max: Ns,
}
