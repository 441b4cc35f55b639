//! What one thread did: CPU time, wake-ups of others, sleeps, in its own order and without the waits for a CPU.

use super::watch::{RanSlice, SeenJob, SeenThread};
use whylate_base::{Comm, Cpu, CpuSet, Ns, Policy, Priority, Tid};
use whylate_ledger::EndedTimes;

/// One thing that a thread did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    /// It used a CPU.
    Run(Ns),
    /// It used a CPU and could not be preempted.
    NonPreemptible(Ns),
    /// It woke another thread.
    Wake(usize),
    /// It woke a thread that had waited since this instant for a lock.
    Release { key: LockKey, to: usize, since: Ns },
    /// It changed its own priority.
    Priority(Priority),
    /// It left the CPU to sleep.
    Sleep(Sleep),
    /// A job ended and the next one began, without a sleep.
    Boundary(EndedJob),
    /// It takes a lock; this one of the model.
    Lock(usize),
    /// It gives a lock back.
    Unlock(usize),
    /// Its CPUs were set: from here on these are known of them, by their number.
    SetsCpus(usize),
}

/// What is known of the CPUs that a thread may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Affinity {
    /// As a fact of the recording has them.
    pub(super) known: Option<CpuSet>,
    pub(super) used: CpuSet,
    /// It waited for its CPU while another one was idle.
    pub(super) stayed: bool,
    /// A call has set them.
    pub(super) is_set: bool,
}

impl Affinity {
    /// The CPUs; `None` where it may use all of them, as far as is known.
    pub(super) fn cpus(&self) -> Option<CpuSet> {
        let stays = self.used.len() == 1 && (self.stayed || self.is_set);
        self.known.clone().or_else(|| stays.then(|| self.used.clone()))
    }
}

/// A sleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sleep {
    pub(super) at: Ns,
    /// The lock that it waits for.
    pub(super) lock: Option<LockKey>,
    pub(super) woken: Option<Woken>,
    /// The job that it ends.
    pub(super) ends: Option<EndedJob>,
}

/// The end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Woken {
    pub(super) at: Ns,
    /// The thread in whose context that was; `None`: an interrupt, or what was not seen.
    pub(super) by: Option<usize>,
    pub(super) cpu: Cpu,
    /// From there to the CPU, where nothing else had that.
    pub(super) dispatch: Option<Ns>,
}

/// A job that has ended, as the ledger has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EndedJob {
    pub(super) due: Ns,
    /// `None` where it was not seen whole.
    pub(super) response: Option<Ns>,
    pub(super) by_timer: bool,
}

/// A lock in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LockKey {
    pub(super) address: u64,
    pub(super) inherits: bool,
}

/// What a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Unknown,
    Asleep,
    /// Since an instant; with what its CPU had spent on interrupts by then, if it was just woken.
    Queued {
        since: Ns,
        woken_at_irq_time: Option<Ns>,
    },
    Running(Cpu),
}

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    pub(super) tid: Tid,
    pub(super) comm: Comm,
    /// At the beginning, without inheritance.
    pub(super) first_priority: Option<Priority>,
    pub(super) priority: Option<Priority>,
    pub(super) boosted: bool,
    pub(super) policy: Option<Policy>,
    /// Before its CPUs were set, and after each such call but the last.
    pub(super) earlier: Vec<Affinity>,
    pub(super) affinity: Affinity,
    pub(super) state: State,
    pub(super) marks: Vec<Mark>,
    pub(super) last_sleep: Option<usize>,
    /// A wake-up that came before it was asleep: when, by which thread, and where in that thread's marks.
    pub(super) pending: Option<(Ns, Option<usize>, usize)>,
    /// The lock that it is about to wait for.
    pub(super) wants: Option<LockKey>,
    /// Sleeps for a time, and until an instant, by their calls.
    pub(super) relative_calls: u32,
    pub(super) absolute_calls: u32,
    pub(super) timers: TimerGaps,
    pub(super) ran: Ns,
    /// When it was due and ran, where that is kept.
    pub(super) seen: SeenThread,
    /// Its CPU time at the end of its last job, and its sleeps since then.
    pub(super) ran_before: Ns,
    pub(super) sleeps: u32,
}

/// How the timers of a thread's sleeps were set: relative to now, or to the one before?
#[derive(Clone, Debug, Default)]
pub(super) struct TimerGaps {
    last: Option<Ns>,
    from_now: Vec<Ns>,
    from_last: Vec<Ns>,
}

/// So many show.
const ENOUGH_TIMERS: usize = 4;
const MOST_TIMERS: usize = 64;

impl TimerGaps {
    pub(super) fn add(&mut self, now: Ns, expires: Ns) {
        if self.from_now.len() < MOST_TIMERS {
            self.from_now.push(expires - now);
            self.from_last.extend(self.last.map(|last| expires - last));
        }
        self.last = Some(expires);
    }

    /// True where the distance from now varies less than that from timer to timer.
    pub(super) fn are_relative(&self) -> bool {
        let spread = |gaps: &[Ns]| {
            let mut sorted = gaps.to_vec();
            sorted.sort_unstable();
            let at = |share: usize| sorted.get(sorted.len() * share / 4).copied().unwrap_or(Ns::ZERO);
            at(3) - at(1)
        };
        self.from_last.len() >= ENOUGH_TIMERS && spread(&self.from_now) < spread(&self.from_last)
    }
}

impl Tape {
    pub(super) fn new(tid: Tid, comm: Comm) -> Tape {
        Tape {
            tid,
            comm,
            first_priority: None,
            priority: None,
            boosted: false,
            policy: None,
            earlier: Vec::new(),
            affinity: Affinity::default(),
            state: State::Unknown,
            marks: Vec::new(),
            last_sleep: None,
            pending: None,
            wants: None,
            relative_calls: 0,
            absolute_calls: 0,
            timers: TimerGaps::default(),
            ran: Ns::ZERO,
            seen: SeenThread::default(),
            ran_before: Ns::ZERO,
            sleeps: 0,
        }
    }

    /// It had a CPU.
    pub(super) fn seen_slice(&mut self, start: Ns, end: Ns, cpu: Cpu) {
        let priority = self.priority.unwrap_or(Priority::UNKNOWN);
        match self.seen.slices.last_mut() {
            _ if end <= start => {}
            Some(last) if last.end == start && last.cpu == cpu && last.priority == priority => last.end = end,
            _ => self.seen.slices.push(RanSlice { start, end, cpu, priority }),
        }
    }

    /// One of its jobs has ended.
    pub(super) fn seen_job(&mut self, ended: &EndedTimes) {
        let work = self.ran.since(self.ran_before);
        let ends_asleep = self.state == State::Asleep;
        let slept_within = self.sleeps > u32::from(ends_asleep);
        let put_off = if slept_within { ended.response().since(work) } else { Ns::ZERO };
        let priority = self.priority.unwrap_or(Priority::UNKNOWN);
        self.seen.jobs.push(SeenJob { due: ended.due, work, put_off, priority, is_whole: ended.is_whole });
        (self.ran_before, self.sleeps) = (self.ran, 0);
    }

    /// It used a CPU.
    pub(super) fn run(&mut self, length: Ns) {
        self.ran += length;
        match self.marks.last_mut() {
            _ if length <= Ns::ZERO => {}
            Some(Mark::Run(before)) => *before += length,
            _ => self.marks.push(Mark::Run(length)),
        }
    }

    /// The last `length` of its time was not its own: another thread was on its way to the CPU.
    pub(super) fn give_back(&mut self, length: Ns) {
        if let Some(Mark::Run(before)) = self.marks.last_mut() {
            let back = length.min(*before);
            *before -= back;
            self.ran -= back;
        }
    }

    /// In the last `length` of its time it could not be preempted.
    pub(super) fn kept_cpu(&mut self, length: Ns) {
        if let Some(Mark::Run(before)) = self.marks.last_mut() {
            let kept = length.min(*before);
            *before -= kept;
            self.marks.push(Mark::NonPreemptible(kept));
        }
    }

    pub(super) fn sleep(&mut self, at: Ns) {
        self.last_sleep = Some(self.marks.len());
        self.sleeps += 1;
        let lock = self.wants;
        self.marks.push(Mark::Sleep(Sleep { at, lock, woken: None, ends: None }));
        self.state = State::Asleep;
    }

    pub(super) fn last_sleep(&mut self) -> Option<&mut Sleep> {
        match self.last_sleep.and_then(|at| self.marks.get_mut(at)) {
            Some(Mark::Sleep(sleep)) => Some(sleep),
            _ => None,
        }
    }

    /// Inserts a mark before others.
    pub(super) fn insert(&mut self, at: usize, mark: Mark) {
        let at = at.min(self.marks.len());
        self.marks.insert(at, mark);
        if let Some(sleep) = self.last_sleep.as_mut().filter(|sleep| **sleep >= at) {
            *sleep += 1;
        }
    }

    /// A call sets its CPUs.
    pub(super) fn sets_cpus(&mut self) {
        let before = std::mem::replace(&mut self.affinity, Affinity { is_set: true, ..Affinity::default() });
        self.earlier.push(before);
        self.marks.push(Mark::SetsCpus(self.earlier.len()));
    }

    /// What is known of its CPUs at the beginning, and after each call that set them.
    pub(super) fn affinity_after(&self, calls: usize) -> &Affinity {
        self.earlier.get(calls).unwrap_or(&self.affinity)
    }

    /// An event shows its priority.
    pub(super) fn shows(&mut self, priority: Priority) {
        if self.boosted || self.priority == Some(priority) || priority == Priority::UNKNOWN {
            return;
        }
        if self.priority.is_none() {
            self.first_priority = Some(priority);
        } else {
            self.marks.push(Mark::Priority(priority));
        }
        self.priority = Some(priority);
    }

    /// The ledger has ended an activation.
    pub(super) fn end_job(&mut self, end: Ns, job: EndedJob) {
        let awake = self.state != State::Asleep;
        if let Some(sleep) = self.last_sleep()
            && sleep.ends.is_none()
            && (sleep.at == end || !awake)
        {
            sleep.ends = Some(job);
        } else if awake {
            self.marks.push(Mark::Boundary(job));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_show_whether_sleeps_are_relative() {
        let (mut relative, mut absolute) = (TimerGaps::default(), TimerGaps::default());
        let mut now = 0;
        for (nth, work) in [300, 900, 100, 500, 700, 200].into_iter().enumerate() {
            relative.add(Ns(now + work), Ns(now + work + 10_000));
            absolute.add(Ns(10_000 * nth as i64 + work), Ns(10_000 * (nth as i64 + 1)));
            now += work + 10_000;
        }
        assert!(relative.are_relative());
        assert!(!absolute.are_relative());
    }
}
