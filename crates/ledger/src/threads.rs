//! What is known of each thread: its name, priority, and what it did when.
//!
//! ```text
//! history:  | Blocked | Queued cpu 1 | Running cpu 1 | Queued cpu 1 | Running ...
//!           ^ start   ^ woken        ^ switched in   ^ preempted
//! ```

use crate::activations::Open;
use crate::affinity::Allowed;
use crate::options::is_housekeeping;
use crate::recent::{forget_before, partition_from_end};
use crate::sleeps::{SleepStyle, Wait};
use crate::stats::Stats;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use whylate_base::{Comm, Cpu, Ns, Policy, Priority, Tid};
use whylate_events::Syscall;

/// What a thread does from one instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// Not seen yet, or events were lost.
    Unknown,
    /// On a CPU.
    Running(Cpu),
    /// Runnable, on a CPU's runqueue.
    Queued(Cpu),
    /// Asleep, for a reason, until somebody wakes it.
    Blocked {
        wait: Wait,
        /// The thread that woke it, once one has.
        waker: Option<Tid>,
    },
}

/// A stretch of a thread's life; it ends where the next begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: Ns,
    pub(crate) state: State,
    /// Its effective priority then.
    pub(crate) prio: Priority,
}

/// One thread.
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    pub(crate) comm: Comm,
    /// The last name that was asked about, and whether it is a housekeeping thread's.
    housekeeping: Cell<(Comm, bool)>,
    /// Its effective priority: with inheritance.
    pub(crate) prio: Priority,
    /// Its own priority while it runs at an inherited one.
    pub(crate) unboosted: Option<Priority>,
    pub(crate) policy: Option<Policy>,
    pub(crate) ever_realtime: bool,
    pub(crate) history: VecDeque<Span>,
    /// The activation in progress.
    pub(crate) open: Option<Open>,
    /// When the last activation was due.
    pub(crate) last_due: Option<Ns>,
    /// A wake-up that was begun (`sched_waking`) and has not yet reached a runqueue.
    pub(crate) waking: Option<Waking>,
    /// The system call it is in.
    pub(crate) syscall: Option<Syscall>,
    /// True once a system call of this thread was seen: its calls are recorded.
    pub(crate) syscalls_recorded: bool,
    /// The kernel lock it contends for, and since when.
    pub(crate) contending: Option<(u64, Ns)>,
    /// The owner it lent its priority to just before it went to sleep.
    pub(crate) lent_priority_to: Option<Tid>,
    /// When its last event was a page fault, when that was.
    pub(crate) faulting: Option<Ns>,
    /// It sleeps in a page fault.
    pub(crate) sleeps_in_fault: bool,
    /// When it pinned itself to CPUs while it was SCHED_OTHER.
    pub(crate) pinned_fair: Option<Ns>,
    /// When it asked for a real-time policy.
    pub(crate) raised: Option<Ns>,
    /// When it was last refused a real-time policy.
    pub(crate) refused: Option<Refusal>,
    pub(crate) allowed: Allowed,
    pub(crate) sleeps: SleepStyle,
    pub(crate) stats: Option<Box<Stats>>,
    /// It has left the CPU for the last time; another thread may get its id.
    pub(crate) ended: bool,
}

/// The kernel said no to a real-time policy or priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// The call's name.
    pub(crate) call: &'static str,
    /// What it asked for, where its arguments tell.
    pub(crate) policy: Option<Policy>,
    /// SCHED_DEADLINE did not find room (EBUSY); else it is not permitted (EPERM).
    pub(crate) no_room: bool,
    /// How often.
    pub(crate) times: u32,
}

/// A wake-up in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waking {
    pub(crate) at: Ns,
    pub(crate) due: Ns,
    pub(crate) cause: crate::activations::WakeCause,
    /// The name and priority the event gives the woken thread.
    pub(crate) comm: Comm,
    pub(crate) prio: Priority,
}

impl Thread {
    fn new(tid: Tid) -> Thread {
        Thread {
            tid,
            comm: Comm::default(),
            housekeeping: Cell::default(),
            prio: Priority::DEFAULT,
            unboosted: None,
            policy: None,
            ever_realtime: false,
            history: VecDeque::new(),
            open: None,
            last_due: None,
            waking: None,
            syscall: None,
            syscalls_recorded: false,
            contending: None,
            lent_priority_to: None,
            faulting: None,
            sleeps_in_fault: false,
            pinned_fair: None,
            raised: None,
            refused: None,
            allowed: Allowed::default(),
            sleeps: SleepStyle::default(),
            stats: None,
            ended: false,
        }
    }

    /// True for a thread of the kernel's own that serves others. Names are long to compare, and change rarely.
    pub(crate) fn is_housekeeping(&self) -> bool {
        let (comm, is) = self.housekeeping.get();
        if comm == self.comm {
            return is;
        }
        let is = is_housekeeping(self.comm.as_str());
        self.housekeeping.set((self.comm, is));
        is
    }

    /// What it does now.
    pub(crate) fn state(&self) -> State {
        self.history.back().map_or(State::Unknown, |span| span.state)
    }

    /// When what it does now began.
    pub(crate) fn since(&self) -> Option<Ns> {
        self.history.back().map(|span| span.start)
    }

    /// From `start` on it is in `state`.
    #[inline]
    pub(crate) fn enter(&mut self, start: Ns, state: State) {
        // Clocks of two CPUs may disagree by some nanoseconds; a thread's life goes forward only.
        let start = self.since().map_or(start, |since| start.max(since));
        self.history.push_back(Span { start, state, prio: self.prio });
        if let State::Running(cpu) = state {
            self.allowed.used(cpu);
        }
    }

    /// Notes its effective priority, as an event shows it.
    pub(crate) fn set_priority(&mut self, prio: Priority) {
        self.prio = prio;
        if self.unboosted.is_none() && prio.is_realtime() {
            self.ever_realtime = true;
        }
    }

    /// Takes over what its wake-up says of it.
    pub(crate) fn rename(&mut self, waking: &Waking) {
        self.comm = waking.comm;
        self.set_priority(waking.prio);
    }

    /// Its own priority, without inheritance.
    pub(crate) fn own_priority(&self) -> Priority {
        self.unboosted.unwrap_or(self.prio)
    }

    /// True when it pinned itself as SCHED_OTHER and has not become real-time since.
    pub(crate) fn pinned_while_fair(&self) -> bool {
        self.pinned_fair.is_some() && !self.prio.is_realtime()
    }

    /// Since when it has not slept, as far as was seen.
    pub(crate) fn awake_since(&self) -> Option<Ns> {
        let awake = |span: &&Span| matches!(span.state, State::Running(_) | State::Queued(_));
        self.history.iter().rev().take_while(awake).last().map(|span| span.start)
    }

    /// What it did in `from..to`, clipped, in order, without gaps: what was not seen is `Unknown`.
    pub(crate) fn between(&self, from: Ns, to: Ns) -> Vec<(Ns, Ns, Span)> {
        let unknown = Span { start: from, state: State::Unknown, prio: self.prio };
        let first = partition_from_end(&self.history, |span| span.start <= from);
        let mut spans = Vec::new();
        let mut at = from;
        let mut current = first.checked_sub(1).and_then(|i| self.history.get(i)).copied().unwrap_or(unknown);
        for next in self.history.range(first..) {
            if next.start >= to {
                break;
            }
            if next.start > at {
                spans.push((at, next.start, current));
                at = next.start;
            }
            current = *next;
        }
        if at < to {
            spans.push((at, to, current));
        }
        spans
    }

    /// Forgets what ended before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        forget_before(&mut self.history, |span| span.start <= horizon);
    }
}

/// No kernel hands out a higher thread id (PID_MAX_LIMIT, `include/linux/threads.h`); a higher one
/// comes from a damaged event.
const MAX_TID: usize = 4 * 1024 * 1024;

/// All threads of a trace, by id.
#[derive(Default)]
pub(crate) struct Threads {
    /// One more than the index in `threads`, by id; 0 for a thread not seen. Ids are small, and this
    /// is looked up several times for each event.
    index: Vec<u32>,
    /// The same for ids that no kernel hands out.
    strange: HashMap<i32, u32>,
    threads: Vec<Thread>,
}

impl Threads {
    /// The thread, known from now on.
    #[inline]
    pub(crate) fn get_mut(&mut self, tid: Tid) -> &mut Thread {
        // A negative id is beyond every index.
        let slot = match self.index.get(tid.0 as u32 as usize) {
            Some(&slot) if slot != 0 => slot,
            _ => self.add(tid),
        };
        &mut self.threads[slot as usize - 1]
    }

    /// One more than the index of a thread that is not in the index.
    #[cold]
    fn add(&mut self, tid: Tid) -> u32 {
        let slot = match usize::try_from(tid.0) {
            Ok(id) if id <= MAX_TID => {
                if id >= self.index.len() {
                    self.index.resize(id + 1, 0);
                }
                &mut self.index[id]
            }
            _ => self.strange.entry(tid.0).or_default(),
        };
        if *slot == 0 {
            self.threads.push(Thread::new(tid));
            *slot = self.threads.len() as u32;
        }
        *slot
    }

    /// The thread, if it was seen.
    #[inline]
    pub(crate) fn get(&self, tid: Tid) -> Option<&Thread> {
        let slot = self.index.get(tid.0 as u32 as usize).or_else(|| self.strange.get(&tid.0));
        self.threads.get((*slot? as usize).checked_sub(1)?)
    }

    /// A thread that begins: nothing of one that had the same id before is true of it, but what is to be
    /// reported of that one.
    pub(crate) fn begin(&mut self, tid: Tid) -> &mut Thread {
        let thread = self.get_mut(tid);
        if thread.ended && thread.stats.is_none() {
            *thread = Thread::new(tid);
        }
        thread.ended = false;
        thread
    }

    /// Forgets the threads that ended before `horizon` and of which nothing is reported, where they are many:
    /// a shell script starts thousands.
    pub(crate) fn forget_ended(&mut self, horizon: Ns) {
        const MANY: usize = 1 << 14;
        if self.threads.len() < MANY {
            return;
        }
        let needed = |thread: &Thread| {
            let recent = thread.since().is_some_and(|since| since >= horizon);
            !thread.ended || recent || thread.open.is_some() || thread.stats.is_some()
        };
        self.index.fill(0);
        self.strange.clear();
        for thread in std::mem::take(&mut self.threads).into_iter().filter(needed) {
            let slot = self.threads.len() as u32 + 1;
            match self.index.get_mut(thread.tid.0 as u32 as usize) {
                Some(index) => *index = slot,
                None => drop(self.strange.insert(thread.tid.0, slot)),
            }
            self.threads.push(thread);
        }
    }

    /// All of them, in order of appearance.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter()
    }

    /// All of them, in order of appearance.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Thread> {
        self.threads.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_ended_are_forgotten_where_they_are_many() {
        let mut threads = Threads::default();
        for id in -3..20_000 {
            let thread = threads.get_mut(Tid(id));
            thread.enter(Ns(i64::from(id)), State::Unknown);
            thread.ended = id % 2 != 0;
        }
        threads.forget_ended(Ns(10_001));
        assert_eq!(threads.iter().count(), 15_001);
        for (id, there) in [(-3, false), (-2, true), (1, false), (2, true), (9_999, false), (10_001, true)] {
            let found = threads.get(Tid(id)).map(|thread| thread.tid);
            assert_eq!(found, there.then_some(Tid(id)));
        }
        assert_eq!(threads.get_mut(Tid(1)).since(), None);
        assert_eq!(threads.get_mut(Tid(2)).since(), Some(Ns(2)));
        threads.get_mut(Tid(10_001)).comm = "before".into();
        assert!(threads.begin(Tid(10_001)).comm.is_empty());
    }

    #[test]
    fn between_tiles_the_interval() {
        let mut threads = Threads::default();
        let thread = threads.get_mut(Tid(1));
        thread.enter(Ns(10), State::Queued(Cpu(0)));
        thread.enter(Ns(20), State::Running(Cpu(0)));
        thread.enter(Ns(20), State::Queued(Cpu(1)));
        thread.enter(Ns(15), State::Running(Cpu(1)));
        let spans = thread.between(Ns(5), Ns(30));
        let ends: Vec<_> = spans.iter().map(|(from, to, span)| (from.0, to.0, span.state)).collect();
        assert_eq!(
            ends,
            [(5, 10, State::Unknown), (10, 20, State::Queued(Cpu(0))), (20, 30, State::Running(Cpu(1))),]
        );
    }
}
