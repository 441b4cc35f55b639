//! Reports that have the largest latency and no samples, and rows of a trace that are samples of a delay: they are read where a text
//! has no other measurement.

use super::error::Broken;
use super::{hwlatdetect, perf_sched, rtla_top, timehist};
use whylate_stats::Run;

/// Each report in a text, by the first reader that knows it.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let readers = [perf_sched::read, rtla_top::read, hwlatdetect::read, timehist::read];
    readers.into_iter().map(|reader| reader(text)).find(|read| !read.is_empty()).unwrap_or_default()
}
