//! All that one culprit, a thread or several of one program, delayed by one cause.

use super::kin::{self, Accused, Delay};
use crate::causes::Cause;
use crate::charge::notes::{VerdictNote, is_called};
use crate::costs::Cost;
use crate::findings::subject::Subject;
use crate::model::{Activation, Culprit, Kin, Trigger};
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Ns, Priority, SchedClass, Tid};

pub(super) struct Group<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) cause: Cause,
    /// The one of them that took most.
    pub(super) by: Culprit,
    /// The delays in the worst activations, the longest first.
    pub(super) late: Vec<Delay<'a>>,
    /// Each of them, with the most that it took of one of those.
    in_worst: HashMap<Culprit, Ns>,
}

impl<'a> Group<'a> {
    pub(super) fn new(
        subject: &'a Subject<'a>,
        cause: Cause,
        by: Culprit,
        accused: Accused<'a>,
    ) -> Group<'a> {
        let Accused { by: in_worst, mut late } = accused;
        late.sort_by_key(|delay| Reverse(delay.charged));
        Group { subject, cause, by, late, in_worst }
    }

    /// What was noted of the longest delay.
    pub(super) fn notes(&self) -> &'a [VerdictNote] {
        self.late.first().map_or(&[], |delay| self.subject.notes(delay.activation))
    }

    /// The threads that were delayed.
    pub(super) fn victims(&self) -> Vec<Tid> {
        let mut victims: Vec<Tid> = self.late.iter().map(|delay| delay.activation.tid).collect();
        victims.sort();
        victims.dedup();
        victims
    }

    /// What the culprits of its worst activations cost each victim, and others of the same name and priority, of which each took notably
    /// long: a program that is started again and again has a new id each time.
    pub(super) fn costs(&self) -> Vec<(Culprit, &'a Cost)> {
        let of_kin = |by: &Culprit| self.in_worst.keys().any(|one| Kin::of(one) == Kin::of(by));
        let victims = self.victims().into_iter().filter_map(|tid| self.subject.stats.get(tid));
        let costs = victims.flat_map(|stats| stats.costs.iter()).filter_map(|((of, by), cost)| {
            let by = by.filter(|_| *of == self.cause)?;
            let counts = self.in_worst.contains_key(&by) || cost.most >= kin::NOTABLE && of_kin(&by);
            counts.then_some((by, cost))
        });
        costs.collect()
    }

    /// True where the culprit stopped the thread as one that traces it.
    pub(super) fn is_traced(&self) -> bool {
        self.notes().contains(&VerdictNote::Traced)
    }

    /// Which of several threads with a deadline goes first is no news, as long as the deadlines are met.
    pub(super) fn is_among_deadlines(&self) -> bool {
        let of_deadline = |delay: &Delay<'_>| delay.activation.priority.class() == SchedClass::Deadline;
        self.cause == Cause::DeadlineTask && self.late.iter().all(of_deadline)
    }

    /// True where the late threads set the culprit to work themselves.
    pub(super) fn was_called(&self) -> bool {
        self.late.iter().all(|delay| is_called(self.subject.notes(delay.activation), Some(self.by)))
    }

    /// True of a thread that the culprit set to work, both of one process: a program whose main thread hands work to helpers of its
    /// own goes on until it sleeps.
    pub(super) fn helps(&self, activation: &Activation) -> bool {
        let Activation { tid, ref trigger, .. } = *activation;
        let of_process = |by: &Culprit| self.subject.timeline.are_of_one_process(by, tid);
        let Trigger::Thread { tid: waker, comm } = *trigger else { return false };
        let waker = Culprit::Task { tid: waker, comm, priority: Priority::UNKNOWN };
        of_process(&self.by) && of_process(&waker)
    }

    /// The longest activation of the culprit itself in which its helpers waited for it, where that is late by its own work.
    pub(super) fn own_time(&self) -> Option<&'a Activation> {
        let Culprit::Task { tid, .. } = self.by else { return None };
        if !self.late.iter().all(|delay| self.helps(delay.activation)) {
            return None;
        }
        let is_meanwhile = |own: &Activation| {
            self.late
                .iter()
                .any(|Delay { activation, .. }| activation.due < own.end && activation.end > own.due)
        };
        let worst =
            self.subject.by_thread.get(&tid)?.iter().filter(|own| own.is_period() && is_meanwhile(own));
        let longest = worst.max_by_key(|own| own.response())?;
        (longest.verdict.cause.accuses_late_thread() && !longest.verdict.fix.is_empty()).then_some(*longest)
    }
}
