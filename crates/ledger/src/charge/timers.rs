//! What the CPU's timer interrupt spent its time on, and for whom.

use super::notes::TimerCallbacks;
use crate::causes::Cause;
use crate::model::{IrqKind, Segment};
use crate::timeline::Timeline;
use crate::timeline::recent::partition_from_end;
use crate::timeline::timers::Callback;
use std::collections::HashMap;
use whylate_base::{Ns, Tid};
use whylate_events::Symbol;

/// The callbacks of the longest slice of a ledger that is charged to the CPU's own interrupt.
pub(crate) fn longest(timeline: &Timeline, ledger: &[Segment]) -> Option<TimerCallbacks> {
    let own = |segment: &&Segment| {
        segment.cause == Cause::Irq && segment.by.is_some_and(|by| by.irq_kind() == Some(IrqKind::OwnTimer))
    };
    let segment = ledger.iter().filter(own).max_by_key(|segment| segment.length())?;
    let callbacks = &timeline.cpus.get(segment.cpu)?.callbacks;
    let first = partition_from_end(callbacks, |callback| callback.start < segment.start);
    let within = callbacks.range(first..).take_while(|callback| callback.start < segment.end);
    let within: Vec<&Callback> = within.collect();
    let length = |callback: &Callback| callback.end.map_or(Ns::ZERO, |end| end - callback.start);
    let mut by_function: HashMap<Symbol, (usize, Ns)> = HashMap::new();
    for callback in &within {
        let sum = by_function.entry(callback.function).or_default();
        sum.0 += 1;
        sum.1 += length(callback);
    }
    let weight = |entry: &(Symbol, (usize, Ns))| (entry.1.1, entry.1.0);
    let most = by_function
        .into_iter()
        .max_by(|a, b| weight(a).cmp(&weight(b)).then_with(|| b.0.as_str().cmp(a.0.as_str())));
    let (function, (times, spent)) = most?;
    let mut by_thread: HashMap<Tid, usize> = HashMap::new();
    for callback in within.iter().filter(|callback| callback.function == function) {
        if let Some(tid) = callback.armed_by {
            *by_thread.entry(tid).or_default() += 1;
        }
    }
    let armed_by = by_thread
        .into_iter()
        .max_by_key(|&(tid, count)| (count, tid))
        .map(|(tid, count)| (tid, timeline.comm_at(tid, segment.start), count));
    Some(TimerCallbacks {
        at: segment.start,
        cpu: segment.cpu,
        count: within.len(),
        time: within.iter().map(|callback| length(callback)).sum(),
        most: (function, times, spent),
        armed_by,
    })
}
