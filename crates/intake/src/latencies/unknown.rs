//! Rows of a report that cannot be read, or that were left out: any of them may have the largest latency of all. Each becomes a
//! thread without a sample, of which no gate knows anything: a gate that the others meet is then "cannot tell".

use whylate_stats::{Measured, Run};

/// The measurement with a thread for each row of which nothing is known.
pub(super) fn with_unknown(mut run: Run, names: impl IntoIterator<Item = String>) -> Run {
    let unknown = |name| Measured { name, is_stage: true, ..Measured::default() };
    run.threads.extend(names.into_iter().map(unknown));
    run
}
