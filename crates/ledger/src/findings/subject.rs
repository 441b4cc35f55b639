//! Everything a finding is made from.

use crate::charge::notes::VerdictNote;
use crate::model::Activation;
use crate::options::Options;
use crate::stats::StatsByThread;
use crate::timeline::Timeline;
use crate::timeline::thread::Thread;
use crate::tracers::osnoise::Noises;
use whylate_base::{Comm, Priority};
use whylate_events::TraceInfo;

pub(crate) struct Subject<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) stats: &'a StatsByThread,
    pub(crate) options: &'a Options,
    pub(crate) trace: &'a TraceInfo,
    /// The worst activations of every selected thread.
    pub(crate) worst: &'a [Activation],
    /// What osnoise and hwlat measured.
    pub(crate) noises: &'a Noises,
}

impl Subject<'_> {
    /// A thread's name and own priority in its worst activation, or, where none is kept, at the end of the trace.
    pub(crate) fn shown(&self, thread: &Thread) -> (Comm, Priority) {
        let worst = self.worst.iter().find(|activation| activation.tid == thread.tid);
        let now = self.timeline.now;
        worst.map_or_else(
            || (thread.comm_at(now), thread.own_priority_at(now)),
            |activation| (activation.comm, activation.priority),
        )
    }

    /// What the ledger of a kept activation noted for its verdict.
    pub(crate) fn notes(&self, activation: &Activation) -> &[VerdictNote] {
        let kept = self.stats.get(activation.tid).into_iter().flat_map(|stats| &stats.worst);
        let mut same = kept.filter(|kept| kept.activation.due == activation.due);
        same.next().map_or(&[], |kept| &kept.notes)
    }
}
