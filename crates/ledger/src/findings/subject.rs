//! Everything a finding is made from.

use crate::charge::notes::VerdictNote;
use crate::identities::Identity;
use crate::model::Activation;
use crate::options::Options;
use crate::scope::AppliedScope;
use crate::stats::StatsByThread;
use crate::timeline::Timeline;
use crate::timeline::thread::Thread;
use crate::tracers::calls::Calls;
use crate::tracers::osnoise::Noises;
use std::collections::{HashMap, HashSet};
use whylate_base::{Cpu, Finding, Ns, SchedClass, Tid};
use whylate_events::TraceInfo;

pub(crate) struct Subject<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) stats: &'a StatsByThread,
    pub(crate) options: &'a Options,
    pub(crate) trace: &'a TraceInfo,
    /// The threads that look after others: see [`looks_after_others`](Self::looks_after_others).
    pub(crate) beside: &'a HashSet<Tid>,
    /// The worst activations of every selected thread.
    pub(crate) worst: &'a [&'a Activation],
    /// The same by thread.
    pub(crate) by_thread: &'a HashMap<Tid, Vec<&'a Activation>>,
    /// The calls of a function_graph trace.
    pub(crate) calls: &'a Calls,
    /// What osnoise and hwlat measured.
    pub(crate) noises: &'a Noises,
    /// The part of the trace that is asked for; `None` where that is all of it.
    pub(crate) scope: Option<&'a AppliedScope>,
}

impl Subject<'_> {
    /// What is found in the worst activations of each thread, by title.
    pub(crate) fn of_each_thread(
        &self,
        find: impl Fn(&Subject<'_>, &[&Activation]) -> Option<Finding>,
    ) -> Vec<Finding> {
        let mut each: Vec<Finding> = self.by_thread.values().filter_map(|worst| find(self, worst)).collect();
        each.sort_by(|one, other| one.title.cmp(&other.title));
        each
    }

    /// What a thread was in most of its activations.
    pub(crate) fn usual(&self, thread: &Thread) -> Identity {
        let usual = self.stats.get(thread.tid).and_then(|stats| stats.identities.usual());
        usual.unwrap_or_else(|| thread.identity_at(self.timeline.now))
    }

    /// True of what a real-time thread did before it was one: its program starts it as SCHED_OTHER, and no deadline counts yet.
    pub(crate) fn precedes_real_time(&self, activation: &Activation) -> bool {
        let thread = self.timeline.threads.get(activation.tid);
        let is_realtime = thread.is_some_and(|thread| self.usual(thread).priority.is_realtime());
        is_realtime && activation.priority.class() == SchedClass::Fair
    }

    /// True for a SCHED_OTHER thread beside real-time ones, such as the main thread of a program that measures: it looks
    /// after them, and when it does so matters to no deadline.
    pub(crate) fn looks_after_others(&self, thread: &Thread) -> bool {
        self.beside.contains(&thread.tid)
    }

    /// True of what was on a CPU from `from` to `to`, if that is in the part of the trace that is asked for.
    pub(crate) fn is_in_scope(&self, cpu: Cpu, from: Ns, to: Ns) -> bool {
        self.scope.is_none_or(|scope| scope.has_cpu(cpu) && scope.overlaps(from, to))
    }

    /// What the ledger of a kept activation noted for its verdict.
    pub(crate) fn notes(&self, activation: &Activation) -> &[VerdictNote] {
        let kept = self.stats.get(activation.tid).into_iter().flat_map(|stats| &stats.worst);
        let mut same = kept.filter(|kept| kept.activation.due == activation.due);
        same.next().map_or(&[], |kept| &kept.notes)
    }
}
