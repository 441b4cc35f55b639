//! The work items that kworkers executed while they were in the way of an activation.

use super::notes::VerdictNote;
use crate::model::{Culprit, Segment};
use crate::timeline::Timeline;
use crate::timeline::housekeeping::is_kworker;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Ns, Tid};
use whylate_events::Symbol;

/// The function by which the kernel writes dirty pages to devices (`fs/fs-writeback.c`).
const WRITEBACK: &str = "wb_workfn";

/// Of each kworker that had the CPU while the thread was late, what it executed most in that time.
pub(crate) fn executed(timeline: &Timeline, ledger: &[Segment]) -> Vec<VerdictNote> {
    let kworker = |segment: &Segment| match segment.by {
        Some(Culprit::Task { tid, comm, .. }) if is_kworker(comm.as_str()) => {
            Some(tid).filter(|_| segment.cause.culprit_holds_cpu())
        }
        _ => None,
    };
    let mut times: BTreeMap<Tid, Vec<(Ns, Ns)>> = BTreeMap::new();
    for segment in ledger {
        if let Some(tid) = kworker(segment) {
            times.entry(tid).or_default().push((segment.start, segment.end));
        }
    }
    times.into_iter().filter_map(|(tid, times)| most(timeline, tid, &times)).collect()
}

fn most(timeline: &Timeline, kworker: Tid, times: &[(Ns, Ns)]) -> Option<VerdictNote> {
    let (from, to) = (times.first()?.0, times.last()?.1);
    let mut counts: HashMap<Symbol, usize> = HashMap::new();
    for run in timeline.item_runs.between(from, to).filter(|run| run.kworker == kworker) {
        let first = times.partition_point(|&(_, end)| end <= run.from);
        let is_within = times.get(first).is_some_and(|&(start, _)| run.to.is_none_or(|to| to > start));
        let function = timeline.origins.names.name(run.function);
        if is_within && !function.is_empty() {
            *counts.entry(function).or_default() += 1;
        }
    }
    let all: usize = counts.values().sum();
    let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.as_str().cmp(a.0.as_str())));
    most.map(|(function, times)| VerdictNote::Executed { kworker, function, times, others: all - times })
}

/// True where a thread itself had pages written to a device in `from..to`: it had made too many dirty.
pub(crate) fn sets_off_writeback(timeline: &Timeline, tid: Tid, from: Ns, to: Ns) -> bool {
    timeline.item_runs.between(from, to).any(|run| {
        let function = timeline.origins.names.name(run.function);
        run.queued_by == Some(tid) && run.from >= from && function.as_str() == WRITEBACK
    })
}
