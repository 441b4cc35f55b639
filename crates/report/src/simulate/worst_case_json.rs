//! Worst cases in `whylate.simulate/1`.

use crate::json::ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_base::AdvisedFix;
use whylate_simulate::worst_case::{Contributor, WorstCase};

/// The worst case of a thread: the most of each interference that the recording shows, at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadWorstCase {
    /// Its name; with its id where two have that name.
    pub name: String,
    /// Its id.
    pub tid: i32,
    /// The CPUs it ran on, as a list.
    pub cpus: String,
    /// Jobs that were seen whole.
    pub jobs: u64,
    /// The longest response of one.
    pub seen_ns: i64,
    /// When that job was due, on the trace's clock.
    pub seen_due_ns: i64,
    /// A longer response may have this probability, with 95 % confidence.
    pub longer_at_most: f64,
    /// What one job in a million exceeds, by the fit of the tail: its upper 95 % limit; null without one.
    pub fitted_ns: Option<i64>,
    /// Why there is no fit; null where there is one.
    pub not_fitted: Option<String>,
    /// All at once; null where there is no bound.
    pub bound_ns: Option<i64>,
    /// Why there is no bound; null where there is one.
    pub no_bound: Option<String>,
    /// What the bound is composed of, most first.
    pub contributors: Vec<Part>,
    /// The index of the one to fix first; null where none can be changed.
    pub first: Option<usize>,
    /// What the bound takes for granted.
    pub assumptions: Vec<String>,
}

/// A part of a worst case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// The code of the cause.
    pub cause: String,
    /// What does it; null where that is not one thing.
    pub by: Option<String>,
    /// Its time in the job with the longest response that was seen.
    pub in_worst_seen_ns: i64,
    /// Its time in the worst case.
    pub ns: i64,
    /// The bound without it; null where there is none.
    pub bound_without_ns: Option<i64>,
    /// What to do about it, best first.
    pub fix: Vec<String>,
}

pub(super) fn worst_case(worst: &WorstCase) -> ThreadWorstCase {
    ThreadWorstCase {
        name: worst.name.clone(),
        tid: worst.tid.0,
        cpus: worst.cpus.to_string(),
        jobs: worst.jobs,
        seen_ns: worst.seen.0,
        seen_due_ns: worst.seen_due.0,
        longer_at_most: worst.longer_at_most,
        fitted_ns: worst.fitted.as_ref().ok().and_then(|level| ns(*level)),
        not_fitted: worst.fitted.as_ref().err().cloned(),
        bound_ns: worst.bound.as_ref().ok().map(|bound| bound.0),
        no_bound: worst.bound.as_ref().err().cloned(),
        contributors: worst.contributors.iter().map(part).collect(),
        first: worst.first,
        assumptions: worst.assumptions.clone(),
    }
}

fn part(part: &Contributor) -> Part {
    let text = |fix: &AdvisedFix| fix.text.clone();
    Part {
        cause: part.cause.code().to_owned(),
        by: part.by.clone(),
        in_worst_seen_ns: part.in_worst_seen.0,
        ns: part.time.0,
        bound_without_ns: ns(part.bound_without),
        fix: part.fix.iter().map(text).collect(),
    }
}
