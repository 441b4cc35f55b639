//! What one thread was and did at each instant: its name, policy, priority, state and CPU.
//!
//! ```text
//! history:  | Blocked | Queued cpu 1 | Running cpu 1 | Queued cpu 1 | Running ...
//!           ^ start   ^ woken        ^ switched in   ^ preempted
//! ```

use super::abi::Abi;
use super::activations::Open;
use super::affinity::Affinity;
use super::armed::OwnTimers;
use super::due_instants::DueInstants;
use super::futexes::Futexes;
use super::history::History;
use super::lifetime::Lifetime;
use super::pacing::Pacing;
use super::past::Past;
use super::quota::LongWaits;
use super::settings::{PinnedFair, PolicyRefusal};
use super::sleeps::Wait;
use super::slept_in::SleptIn;
use super::spent::Crossings;
use super::states::State;
use super::stops::StoppedSleep;
use super::tally::Tally;
use super::thread_name::ThreadName;
use super::waking::{Contention, Timeout, Waking};
use crate::identities::Identity;
use whylate_base::{Comm, Ns, Policy, Priority, Tid};
use whylate_events::Syscall;

/// A thread's effective priority, and its own where it runs at an inherited one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Priorities {
    effective: Priority,
    unboosted: Option<Priority>,
}

impl Priorities {
    fn own(self) -> Priority {
        self.unboosted.unwrap_or(self.effective)
    }
}

/// One thread.
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    name: ThreadName,
    priorities: Past<Priorities>,
    policies: Past<Option<Policy>>,
    pub(crate) ever_realtime: bool,
    pub(crate) history: History,
    /// The activation in progress.
    pub(crate) open: Option<Open>,
    /// When the last activation was due.
    pub(crate) last_due: Option<Ns>,
    /// A wake-up that was begun (`sched_waking`) and has not yet reached a runqueue.
    pub(crate) waking: Option<Waking>,
    /// How it was last woken while it had the CPU, as far as was known.
    pub(crate) woken_on_cpu: Option<Waking>,
    /// The system call it is in.
    pub(crate) syscall: Option<Syscall>,
    pub(crate) crossings: Crossings,
    /// True once a system call of this thread was seen: its calls are recorded.
    pub(crate) syscalls_recorded: bool,
    /// The kernel lock it contends for.
    pub(crate) contending: Option<Contention>,
    /// The owner it lent its priority to just before it went to sleep.
    pub(crate) lent_priority_to: Option<Tid>,
    /// When its last event was a page fault, when that was.
    pub(crate) faulting: Option<Ns>,
    /// It sleeps in a page fault.
    pub(crate) sleeps_in_fault: bool,
    /// It pinned itself to CPUs while it was SCHED_OTHER.
    pub(crate) pinned_fair: Option<PinnedFair>,
    /// It has asked for a real-time policy, which shows only at its next switch.
    raised: Option<Ns>,
    /// When it was last refused a real-time policy.
    pub(crate) refused: Option<PolicyRefusal>,
    /// When a call that changed its policy or priority returned, since it was switched in: the new one shows only as it
    /// leaves the CPU.
    pub(crate) policy_changed: Option<Ns>,
    /// The same of another thread's call while it waited for a CPU: the new one shows as it gets that.
    pub(crate) policy_given: Option<Ns>,
    /// When the call for another policy or priority was begun that has not returned.
    pub(crate) policy_asked: Option<Ns>,
    /// The thread whose priority it seems to have inherited, where no event shows that, and when that one went to sleep.
    pub(crate) inherits_from: Option<(Tid, Ns)>,
    /// Since when no event has shown its priority, as a call that it got it by began and returned since it was switched in.
    pub(crate) priority_unshown: Option<Ns>,
    /// It is runnable, or else an idle kernel thread: the recording shows both alike.
    pub(crate) may_be_idle: bool,
    pub(crate) affinity: Affinity,
    /// How its system calls are read.
    pub(crate) abi: Abi,
    pub(crate) pacing: Pacing,
    pub(crate) own_timers: OwnTimers,
    pub(crate) due_instants: DueInstants,
    /// The sleep in which it was stopped, until that is over.
    pub(crate) stopped_in_sleep: Option<StoppedSleep>,
    pub(crate) lifetime: Lifetime,
    pub(crate) futexes: Futexes,
    /// Waits of this activation that ended by their timeouts, until it shows what they were.
    pub(crate) timeouts: Vec<Timeout>,
    /// What its latest uninterruptible sleeps were in.
    pub(crate) slept_in: SleptIn,
    /// The thread that forked it, until it first sleeps.
    pub(crate) started_by: Option<Tid>,
    pub(crate) long_waits: LongWaits,
    /// It has locked the memory of its process, what is mapped later as well (mlockall(2)).
    pub(crate) locks_memory: bool,
    /// It runs a program of its own, by execve(2).
    pub(crate) has_executed: bool,
    /// Its activations are reported, so that it must not be forgotten.
    pub(crate) is_reported: bool,
    /// It has left the CPU for the last time; another thread may get its id.
    pub(crate) ended: bool,
    /// The thread that forked it, if that was seen.
    pub(crate) forked_by: Option<Tid>,
    /// It is the command that was recorded.
    pub(crate) is_command: bool,
    /// Its activations, where they are not explained.
    pub(crate) tally: Tally,
    /// Its own markers begin and end its activations.
    pub(crate) is_marked: bool,
    /// It is among the threads that may have something to be forgotten.
    pub(super) is_active: bool,
}

impl Thread {
    pub(super) fn new(tid: Tid) -> Thread {
        Thread {
            tid,
            name: ThreadName::default(),
            priorities: Past::assumed(Priorities { effective: Priority::DEFAULT, unboosted: None }),
            policies: Past::default(),
            ever_realtime: false,
            history: History::default(),
            open: None,
            last_due: None,
            waking: None,
            woken_on_cpu: None,
            syscall: None,
            crossings: Crossings::default(),
            syscalls_recorded: false,
            contending: None,
            lent_priority_to: None,
            faulting: None,
            sleeps_in_fault: false,
            is_marked: false,
            pinned_fair: None,
            raised: None,
            refused: None,
            policy_changed: None,
            policy_given: None,
            policy_asked: None,
            inherits_from: None,
            priority_unshown: None,
            may_be_idle: false,
            affinity: Affinity::default(),
            abi: Abi::Native,
            pacing: Pacing::default(),
            own_timers: OwnTimers::default(),
            due_instants: DueInstants::default(),
            stopped_in_sleep: None,
            lifetime: Lifetime::default(),
            futexes: Futexes::default(),
            timeouts: Vec::new(),
            slept_in: SleptIn::default(),
            started_by: None,
            long_waits: LongWaits::default(),
            locks_memory: false,
            has_executed: false,
            is_reported: false,
            ended: false,
            forked_by: None,
            is_command: false,
            tally: Tally::default(),
            is_active: false,
        }
    }

    /// True for a thread of the kernel's own that serves others.
    pub(crate) fn is_housekeeping(&self) -> bool {
        self.name.is_housekeeping()
    }

    /// True for a thread of the kernel, as far as its name shows.
    pub(crate) fn is_of_kernel(&self) -> bool {
        self.name.is_of_kernel()
    }

    /// Whether the user's choice has a thread of this name: `judge`, always the same one, decides.
    #[inline]
    pub(crate) fn is_selected(&self, judge: impl FnOnce(&str) -> bool) -> bool {
        self.name.is_selected(judge)
    }

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

    /// What it does now.
    #[inline]
    pub(crate) fn state(&self) -> State {
        self.history.state()
    }

    /// When what it does now began.
    #[inline]
    pub(crate) fn since(&self) -> Option<Ns> {
        self.history.since()
    }

    /// From `start` on it is in `state`.
    #[inline]
    pub(crate) fn enter(&mut self, start: Ns, state: State) {
        self.tally.enters(start, state, self.history.state());
        if let State::Running(cpu) = state {
            self.affinity.used(cpu);
        }
        self.history.enter(start, state);
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

    /// It is woken: if it may have been asleep rather than runnable, it was.
    pub(crate) fn was_idle_if_woken(&mut self) {
        if std::mem::take(&mut self.may_be_idle) && matches!(self.state(), State::Queued(_)) {
            self.history.correct(State::Blocked { wait: Wait::Unsure, waker: None });
        }
    }

    /// True when a switch to it shows a wake-up: it was asleep, or out of sight and a wake-up was begun since.
    pub(crate) fn waits_unseen(&self) -> bool {
        match self.state() {
            State::Blocked { .. } => true,
            State::Unknown => {
                let is_since = |waking: Waking| self.since().is_none_or(|since| since <= waking.at);
                self.waking.is_some_and(is_since) || self.woken_since().is_some()
            }
            State::Running(_) | State::Queued(_) => false,
        }
    }

    /// The wake-up of a thread that seemed to run, where the last event that shows it on the CPU is before that: it slept, and no
    /// switch shows it. Of one that was still there, the wake-up came before it had left the CPU, and it ran on.
    pub(crate) fn woken_since(&self) -> Option<Waking> {
        let is_since = |waking: &Waking| self.since().is_some_and(|since| since < waking.at);
        self.woken_on_cpu.filter(|_| self.state() == State::Unknown).filter(is_since)
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

    /// True when it neither runs nor waits for a CPU, and is in no activation.
    pub(super) fn is_asleep(&self) -> bool {
        self.open.is_none() && !matches!(self.state(), State::Running(_) | State::Queued(_))
    }

    /// Events were lost from `from` on: what it was at is not known any more. One that slept, in no activation, sleeps on.
    pub(crate) fn lose(&mut self, from: Ns) {
        if !self.is_asleep() {
            self.enter(from, State::Unknown);
        }
        self.waking = None;
        self.woken_on_cpu = None;
        self.syscall = None;
        self.contending = None;
    }

    /// True when it is asleep and holds nothing that could be forgotten.
    pub(super) fn is_at_rest(&self) -> bool {
        let has_past = self.name.over_time.has_past()
            || self.priorities.has_past()
            || self.policies.has_past()
            || self.affinity.has_past();
        self.is_asleep() && self.history.len() <= 1 && !has_past
    }

    /// True when it is at rest, and nothing is known of it that its next wake-up will not show.
    pub(super) fn is_forgettable(&self) -> bool {
        let has_facts = self.policies.shown().is_some() || self.affinity.is_recorded();
        let has_findings = self.pinned_fair.is_some() || self.refused.is_some();
        self.is_at_rest() && !self.is_reported && !has_facts && !has_findings
    }

    /// Forgets what ended before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        self.history.forget(horizon);
        self.name.over_time.forget(horizon);
        self.priorities.forget(horizon);
        self.policies.forget(horizon);
        self.affinity.forget(horizon);
        self.slept_in.forget(horizon);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Cpu;

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
