//! The state of the simulated machine.

use super::event_buffer::Trace;
use super::fair_entity::FairEntity;
use super::rank::Rank;
use super::tally::Tally;

use crate::model::{Model, TaskPolicy};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use whylate_base::Ns;

/// A machine in the middle of its run.
pub(crate) struct Simulation<'m> {
    pub(super) model: &'m Model,
    pub(super) now: Ns,
    pub(super) end: Ns,
    pub(super) timers: BinaryHeap<Reverse<(Ns, u64, Pending)>>,
    pub(super) sequence: u64,
    pub(super) next_tick: Ns,
    pub(super) cpus: Vec<CpuState>,
    pub(super) threads: Vec<Thread>,
    /// The tasks that become due when a task's job is done.
    pub(super) successors: Vec<Vec<usize>>,
    pub(super) locks: Vec<LockState>,
    pub(super) groups: Vec<GroupState>,
    /// How many times each interrupt of a device has arrived and was handled, and what its lengths are drawn with.
    pub(super) devices: Vec<(u64, u64, fastrand::Rng)>,
    pub(super) trace: Trace,
    pub(super) tail: i64,
    pub(super) rt_period_runs: bool,
}

/// What waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pending {
    /// A thread's timer: its next job.
    Release(usize),
    /// The end of a sleep in the middle of a job.
    Resume(usize),
    /// An interrupt of a device.
    Device(usize),
    /// The period of real-time bandwidth ends.
    RtPeriod,
    /// A reservation of SCHED_DEADLINE is filled again.
    Replenish(usize),
    /// The fair server of a CPU has waited for as long as it may; of this start of it.
    Server(usize, u64),
    /// A group's quota is filled again.
    Refill(usize),
}

/// Why a CPU is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Timer(Pending),
    Tick,
    Device(usize),
    Softirq { vec: u32, length: Ns },
}

/// What a CPU is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its thread, or nothing.
    Work,
    /// An interrupt.
    Handler(Source),
    /// The way to the next thread.
    Switch,
    /// The way out of an idle state.
    IdleExit,
}

/// A CPU.
pub(super) struct CpuState {
    pub(super) current: Option<usize>,
    /// The current thread runs on the time of the fair server.
    pub(super) served: bool,
    pub(super) phase: Phase,
    pub(super) phase_end: Ns,
    /// From when on the progress of the current thread is not counted yet.
    pub(super) since: Ns,
    /// The same by the scheduler's clock.
    pub(super) charged: Ns,
    /// When something happens by itself.
    pub(super) next: Ns,
    pub(super) queued: Vec<usize>,
    pub(super) pending: VecDeque<Source>,
    pub(super) need_resched: bool,
    /// Its thread is in the middle of steps that take no time: it looks for another one after them.
    pub(super) acts: bool,
    pub(super) rt_used: Ns,
    pub(super) rt_limit: Ns,
    pub(super) rt_throttled: bool,
    pub(super) server: ServerState,
    /// The virtual time of its SCHED_OTHER threads when there were some last.
    pub(super) virtual_time: i64,
}

/// The fair server of a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServerState {
    pub(super) started: bool,
    pub(super) active: bool,
    pub(super) left: Ns,
    pub(super) period_start: Ns,
    pub(super) generation: u64,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Waits for its next job.
    Asleep,
    /// Waits for this lock.
    Blocked(usize),
    /// Sleeps in the middle of a job.
    Suspended,
    /// Is runnable.
    Queued,
    /// Has its CPU.
    Running,
}

/// The job that a thread is at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) due: Ns,
    /// The due instant of the first job of its chain.
    pub(super) origin: Ns,
}

/// A thread.
pub(super) struct Thread {
    pub(super) scheduling: TaskPolicy,
    pub(super) allowed: Vec<bool>,
    pub(super) is_pinned: bool,
    pub(super) doing: Doing,
    pub(super) cpu: usize,
    /// Among equals the lowest is the first.
    pub(super) order: i64,
    pub(super) boost: Option<Rank>,
    pub(super) held: Vec<usize>,
    pub(super) job: Option<Job>,
    pub(super) started: u64,
    pub(super) at: usize,
    /// It is in the middle of the step `at`.
    pub(super) entered: bool,
    /// Of a step that uses a CPU; [`Ns::MAX`] where it never ends.
    pub(super) left: Ns,
    pub(super) irqs_off: bool,
    pub(super) preempt_off: bool,
    /// Due instants and origins of jobs that wait for the one before.
    pub(super) backlog: VecDeque<Job>,
    pub(super) next_due: Ns,
    pub(super) arrivals: u64,
    pub(super) random: fastrand::Rng,
    /// The system call that it sleeps in.
    pub(super) in_call: Option<i64>,
    pub(super) fair: FairEntity,
    pub(super) reservation: Reservation,
    pub(super) rr_left: Ns,
    pub(super) queued_since: Ns,
    pub(super) tally: Tally,
    /// It sleeps until another task wakes it.
    pub(super) awaits: bool,
    /// The CPU that its wake-up takes, if it may.
    pub(super) hint: Option<usize>,
    /// From its wake-up to its CPU, where nothing else has that.
    pub(super) dispatch: Ns,
    /// The responses of its recorded jobs, with the numbers of the jobs.
    pub(super) responses: Vec<(usize, Ns)>,
}

/// The reservation of a SCHED_DEADLINE thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reservation {
    pub(super) left: Ns,
    pub(super) deadline: Ns,
    pub(super) throttled: bool,
}

/// A lock.
#[derive(Default)]
pub(super) struct LockState {
    pub(super) owner: Option<usize>,
    pub(super) waiters: Vec<usize>,
    /// The highest rank of its users, where it has a ceiling.
    pub(super) ceiling: Option<Rank>,
}

/// A control group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupState {
    pub(super) left: Ns,
    pub(super) throttled: bool,
}

impl Thread {
    /// Its rank, with what it has inherited.
    pub(super) fn rank(&self) -> Rank {
        let own = Rank::of(self.scheduling, self.reservation.deadline);
        self.boost.map_or(own, |boost| boost.min(own))
    }
}

impl Simulation<'_> {
    /// `pending` happens at `at`.
    pub(super) fn arm(&mut self, at: Ns, pending: Pending) {
        self.sequence += 1;
        self.timers.push(Reverse((at, self.sequence, pending)));
    }

    /// The scheduler's clock at an instant.
    pub(super) fn clock(&self, at: Ns) -> Ns {
        match self.model.machine.clock {
            crate::model::AccountingClock::Precise => at,
            crate::model::AccountingClock::Tick => Ns(at.0 - at.0.rem_euclid(self.model.machine.tick.0)),
        }
    }

    /// The rank of what a CPU runs.
    pub(super) fn rank_on(&self, cpu: usize) -> Rank {
        let state = &self.cpus[cpu];
        match state.current {
            None => Rank::Nothing,
            Some(_) if state.served => Rank::Deadline(self.server_deadline(cpu)),
            Some(thread) => self.threads[thread].rank(),
        }
    }

    /// The absolute deadline of a CPU's server.
    pub(super) fn server_deadline(&self, cpu: usize) -> Ns {
        self.cpus[cpu].server.period_start + self.model.machine.fair_server.period
    }

    /// What was counted of each task so far, in the model's order.
    pub(crate) fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.threads.iter().map(|thread| &thread.tally)
    }

    /// The responses of each task's recorded jobs that are done, with the numbers of the jobs.
    pub(crate) fn responses(&self) -> impl Iterator<Item = &[(usize, Ns)]> {
        self.threads.iter().map(|thread| thread.responses.as_slice())
    }

    /// The events since the last call.
    pub(crate) fn take_events(&mut self, into: &mut Vec<whylate_events::Event>) {
        into.clear();
        std::mem::swap(into, &mut self.trace.events);
    }

    /// How many events have not been taken.
    pub(crate) fn event_count(&self) -> usize {
        self.trace.events.len()
    }

    /// The names of the threads, by their ids.
    pub(crate) fn comms(&self) -> Vec<(whylate_base::Tid, whylate_base::Comm)> {
        let named = self.trace.comms.iter().enumerate();
        named.map(|(at, &comm)| (self.trace.tids[at], comm)).collect()
    }
}
