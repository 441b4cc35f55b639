//! What one thread was and did at each instant: its name, policy, priority, state and CPU.
//!
//! ```text
//! history:  | Blocked | Queued cpu 1 | Running cpu 1 | Queued cpu 1 | Running ...
//!           ^ start   ^ woken        ^ switched in   ^ preempted
//! ```

mod identity;
mod priorities;

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
use priorities::Priorities;
use whylate_base::{Ns, Policy, Priority, Tid};
use whylate_events::Syscall;

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
