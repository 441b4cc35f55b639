//! What a thread is called, and its policy and priority: its own, and what it inherits.

use super::Thread;
use super::priorities::Priorities;
use crate::identities::Identity;
use crate::timeline::settings::PinnedFair;
use crate::timeline::waking::Waking;
use whylate_base::{Comm, Ns, Policy, Priority};

impl Thread {
    /// Its last known name.
    #[inline]
    pub(crate) fn comm(&self) -> Comm {
        self.name.over_time.latest()
    }

    /// Its name at an instant.
    #[inline]
    pub(crate) fn comm_at(&self, instant: Ns) -> Comm {
        self.name.over_time.at(instant)
    }

    /// An event gives it this name from `at` on.
    #[inline]
    pub(crate) fn rename(&mut self, at: Ns, comm: Comm) {
        self.name.over_time.set(at, comm);
    }

    /// True when events have shown this name and this effective priority last.
    #[inline]
    pub(crate) fn is_shown_as(&self, comm: Comm, effective: Priority) -> bool {
        let unboosted = self.priorities.latest().unboosted;
        self.name.over_time.is_shown_as(comm)
            && self.priorities.is_shown_as(Priorities { effective, unboosted })
    }

    /// It goes by this name, though no event of its own shows it.
    pub(crate) fn assume_name(&mut self, comm: Comm) {
        self.name.over_time.assume(comm);
    }

    /// Its last known effective priority: with inheritance.
    #[inline]
    pub(crate) fn priority(&self) -> Priority {
        self.priorities.latest().effective
    }

    /// Its effective priority, if an event has shown it.
    pub(crate) fn shown_priority(&self) -> Option<Priority> {
        self.priorities.shown().map(|priorities| priorities.effective)
    }

    /// Its effective priority at an instant.
    #[inline]
    pub(crate) fn priority_at(&self, instant: Ns) -> Priority {
        self.priorities.at(instant).effective
    }

    /// Its last known own priority, without inheritance.
    pub(crate) fn own_priority(&self) -> Priority {
        self.priorities.latest().own()
    }

    /// Its own priority at an instant, without inheritance.
    pub(crate) fn own_priority_at(&self, instant: Ns) -> Priority {
        self.priorities.at(instant).own()
    }

    /// When its priority changed between two instants, both excluded.
    pub(crate) fn priority_changes(&self, from: Ns, to: Ns) -> impl Iterator<Item = Ns> {
        self.priorities.changes(from, to)
    }

    /// Its last known policy, where the recording shows one.
    pub(crate) fn policy(&self) -> Option<Policy> {
        self.policies.latest()
    }

    /// Its policy at an instant, where the recording shows one.
    pub(crate) fn policy_at(&self, instant: Ns) -> Option<Policy> {
        self.policies.at(instant)
    }

    /// What it was in `from..to`, where it had the higher priority: at the beginning or at the end.
    pub(crate) fn identity_in(&self, from: Ns, to: Ns) -> Identity {
        let last = self.identity_at(to);
        match self.own_priority_at(from).outranks(last.priority) {
            true => Identity { comm: last.comm, ..self.identity_at(from) },
            false => last,
        }
    }

    /// Its name, policy and own priority at an instant.
    pub(crate) fn identity_at(&self, instant: Ns) -> Identity {
        Identity {
            comm: self.comm_at(instant),
            policy: self.policy_at(instant),
            priority: self.own_priority_at(instant),
        }
    }

    /// It has this policy from `at` on.
    pub(crate) fn set_policy(&mut self, at: Ns, policy: Policy) {
        self.policies.set(at, Some(policy));
        if policy.is_realtime() {
            self.is_real_time(at);
        }
    }

    /// Notes its effective priority, as an event shows it.
    #[inline]
    pub(crate) fn set_priority(&mut self, at: Ns, effective: Priority) {
        // At its own priority it inherits none any more.
        let unboosted = self.priorities.latest().unboosted.filter(|own| effective.outranks(*own));
        self.priorities.set(at, Priorities { effective, unboosted });
        if unboosted.is_none() && effective.is_realtime() {
            self.is_real_time(at);
        }
    }

    /// It has this priority of its own, though no event shows it.
    pub(crate) fn assume_priority(&mut self, priority: Priority) {
        self.priorities.assume(Priorities { effective: priority, unboosted: None });
        self.ever_realtime |= priority.is_realtime();
    }

    /// A lock's waiter lends it a priority, or takes it back.
    pub(crate) fn inherit(&mut self, at: Ns, old: Priority, new: Priority) {
        let unboosted = match self.priorities.latest().unboosted {
            None if new.outranks(old) => Some(old),
            Some(own) if !new.outranks(own) => None,
            same => same,
        };
        self.priorities.set(at, Priorities { effective: new, unboosted });
        if unboosted.is_none() && new.is_realtime() {
            self.is_real_time(at);
        }
    }

    /// Takes over the name and the priority that its wake-up shows; one that is only stated elsewhere shows no priority.
    pub(crate) fn take_over(&mut self, waking: &Waking) {
        self.rename(waking.at, waking.comm);
        if waking.prio != Priority::UNKNOWN || self.shown_priority().is_none() {
            self.set_priority(waking.at, waking.prio);
        }
    }

    /// It pins itself to CPUs, unless it is real-time, or is about to be shown as such.
    pub(crate) fn pins_itself(&mut self, at: Ns) {
        if !self.priority().is_realtime() && self.raised.is_none() {
            self.pinned_fair = Some(PinnedFair { at, until: None });
        }
    }

    /// It asks for another policy or priority; `rises`: for a real-time one.
    pub(crate) fn asks_for_policy(&mut self, at: Ns, rises: bool) {
        self.raised = rises.then_some(at);
        if let (true, Some(pinned)) = (rises, &mut self.pinned_fair) {
            pinned.until.get_or_insert(at);
        }
    }

    /// It was refused what it asked for, and is what it was.
    pub(crate) fn stays_as_it_was(&mut self) {
        let raised = self.raised.take();
        if let Some(pinned) = &mut self.pinned_fair
            && pinned.until == raised
        {
            pinned.until = None;
        }
    }

    /// It seemed to have inherited its priority, and would have given it back by now.
    pub(crate) fn inherits_no_more(&mut self, at: Ns) {
        self.inherits_from = None;
        let effective = self.priority();
        self.priorities.set(at, Priorities { effective, unboosted: None });
    }

    /// Takes in that it is real-time by itself.
    fn is_real_time(&mut self, at: Ns) {
        self.ever_realtime = true;
        if let Some(pinned) = &mut self.pinned_fair {
            pinned.until.get_or_insert(at.max(pinned.at));
        }
    }

    /// True when it pinned itself as SCHED_OTHER and has not become real-time since.
    pub(crate) fn pinned_while_fair(&self) -> bool {
        self.pinned_fair.is_some() && !self.priority().is_realtime()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::states::State;
    use whylate_base::{Cpu, Tid};

    #[test]
    fn a_thread_is_what_it_was_at_an_instant() {
        let mut thread = Thread::new(Tid(1));
        thread.assume_name("saved".into());
        assert_eq!(thread.comm_at(Ns(5)).as_str(), "saved");
        thread.rename(Ns(10), "shell".into());
        thread.set_priority(Ns(10), Priority::DEFAULT);
        thread.enter(Ns(10), State::Queued(Cpu(0)));
        thread.enter(Ns(20), State::Running(Cpu(0)));
        thread.rename(Ns(30), "worker".into());
        thread.set_priority(Ns(30), Priority::realtime(50));
        thread.inherit(Ns(40), Priority::realtime(50), Priority::realtime(90));
        thread.inherit(Ns(50), Priority::realtime(90), Priority::realtime(50));
        let comms = [5, 10, 29, 30].map(|at| thread.comm_at(Ns(at)).as_str().to_owned());
        assert_eq!(comms, ["shell", "shell", "shell", "worker"]);
        let effective = [9, 29, 30, 40, 50].map(|at| thread.priority_at(Ns(at)));
        let rt = Priority::realtime;
        assert_eq!(effective, [Priority::DEFAULT, Priority::DEFAULT, rt(50), rt(90), rt(50)]);
        assert_eq!(thread.own_priority_at(Ns(45)), rt(50));
        let keeps = |until: i64| thread.priority_changes(Ns(10), Ns(until)).next().is_none();
        assert!(keeps(30) && !keeps(31));
    }
}
