//! Activations while they are in progress: what opens one, what it gathers, what ends it.

use super::irqs::IrqId;
use super::origins::Origin;
use super::sleeps::{NoMutex, Wait};
use super::spent::{Calls, Spent};
use crate::model::Segment;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::Marker;

/// What woke a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WakeCause {
    /// A timer of its own, on this CPU; `hard_due` is expiry plus slack. On PREEMPT_RT most timers expire in
    /// a thread, the `expirer` (`ktimers/N`, or `ksoftirqd/N` before 6.2), which must get the CPU first.
    Timer { cpu: Cpu, hard_due: Ns, expirer: Option<Tid> },
    /// A thread.
    Thread(Tid),
    /// The same, or an interrupt that came upon the thread: the recording has neither interrupts nor the state of the CPU
    /// beside each event, as the text of `perf script`.
    Upon(Tid),
    /// A hard interrupt.
    Irq(IrqId),
    /// A softirq.
    Softirq(u32),
    /// Not recorded.
    Unseen,
}

impl WakeCause {
    /// The thread that woke, if one did.
    pub(crate) fn waker(self) -> Option<Tid> {
        match self {
            WakeCause::Thread(tid) | WakeCause::Upon(tid) => Some(tid),
            _ => None,
        }
    }
}

/// What a thread slept on before an activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SleptOn {
    /// Not recorded.
    Unseen,
    /// The word of a futex.
    Futex(u64),
    /// Something else.
    Other,
}

impl SleptOn {
    /// A wait that ended, and the word of the futex, where it was one.
    pub(crate) fn of(wait: Wait, word: Option<u64>) -> SleptOn {
        match word {
            Some(word) => SleptOn::Futex(word),
            None if matches!(wait, Wait::Unsure) => SleptOn::Unseen,
            None => SleptOn::Other,
        }
    }
}

/// How an activation began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Begin {
    /// With a wake-up.
    Woken(WakeCause),
    /// With a marker of its own, while it ran.
    Marked,
    /// Before the trace did.
    TraceStart,
}

/// An activation in progress.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) begin: Begin,
    pub(crate) due: Ns,
    /// What the wake-up began with, where that was before it.
    pub(crate) origin: Option<Box<Origin>>,
    /// It began while the thread was SCHED_OTHER.
    pub(crate) began_fair: bool,
    /// When the wake-up began (`sched_waking`).
    pub(crate) waking: Ns,
    /// When it was on a runqueue (`sched_wakeup`).
    pub(crate) woken: Option<Ns>,
    pub(crate) running: Option<Ns>,
    /// Where it was queued first, or seen.
    pub(crate) cpu: Option<Cpu>,
    /// The CPU that woke it upon its idle task, and so had left its idle state by then.
    pub(crate) awake: Option<Cpu>,
    /// The CPU that put it on the runqueue of another one, long after it had begun to.
    pub(crate) queued_late_by: Option<Cpu>,
    /// Where it first ran.
    pub(crate) ran_on: Option<Cpu>,
    /// What the thread slept on before.
    pub(crate) slept_on: SleptOn,
    /// The thread executed a program in it.
    pub(crate) executes: bool,
    /// When the thread exited; it still runs for a moment, to switch away in the end.
    pub(crate) exited: Option<Ns>,
    /// When the period was due in which the thread works: in the work after its own timer, and after answers that it asked for
    /// in there.
    pub(crate) period: Option<Ns>,
    /// For whom it works.
    pub(crate) errand: Option<Errand>,
    /// What cut into its work: in most, nothing.
    marks: Option<Box<Marks>>,
    /// The thread slept at its end, and no event shows since when: its work ends with the last event of its CPU before.
    pub(crate) ends_unseen: bool,
    /// It has ended a poll of a network device in it; or, where no packets are recorded, woken a thread in one.
    pub(crate) polled: bool,
    /// It has returned from the system call in which it slept, or from a later one.
    pub(crate) returned: bool,
    /// What is charged already, of a long one.
    pub(crate) checkpoint: Option<Box<Checkpoint>>,
}

/// The work that wake-ups carry from a thread in its period to others, and by them to more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Errand {
    pub(crate) of: Tid,
    /// When that thread set it off.
    pub(crate) since: Ns,
}

/// A wait for what is no mutex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherLock {
    pub(crate) at: Ns,
    pub(crate) kind: NoMutex,
    /// The thread that waited for it before, by another word of it.
    pub(crate) behind: Option<Tid>,
}

/// What cut into a thread's execution in one activation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Page faults, each with the CPU's next event after it.
    pub(crate) faults: Vec<Fault>,
    /// Times it spun for a kernel lock.
    pub(crate) spins: Vec<(Ns, Ns)>,
    /// Long times on the CPU on the way into a call that sleeps, from waking to the return of that call, or from the release of a lock to
    /// the end of the wait for it: it does no work there.
    pub(crate) slow_ways: Vec<(Ns, Ns)>,
    /// The same, of times after which the thread was preempted. The return from its call shows that it was still in there.
    preempted_sleeps: Vec<(Ns, Ns)>,
    /// Threads that run before it, and that it woke itself.
    pub(crate) called: Vec<Tid>,
    /// Its waits by futexes for what is no mutex.
    pub(crate) other_locks: Vec<OtherLock>,
    /// Long system calls, and handlers of signals.
    pub(crate) spent: Vec<Spent>,
    /// Many short system calls of one kind, and the name of that where it is known.
    pub(crate) many_calls: Option<(Calls, Option<&'static str>)>,
    /// What its program itself wrote about its lateness, and when.
    pub(crate) said: Option<(Ns, Marker)>,
}

static NO_MARKS: Marks = Marks {
    faults: Vec::new(),
    spins: Vec::new(),
    slow_ways: Vec::new(),
    preempted_sleeps: Vec::new(),
    called: Vec::new(),
    other_locks: Vec::new(),
    spent: Vec::new(),
    many_calls: None,
    said: None,
};

/// What is charged already of an activation in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) ledger: Vec<Segment>,
    /// Everything before is charged.
    pub(crate) until: Ns,
}

/// A page fault; the kernel traces its entry only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) at: Ns,
    /// The next thing that was seen on that CPU: the fault was over by then.
    pub(crate) next: Option<Ns>,
    /// True when that was another fault.
    pub(crate) next_is_fault: bool,
    /// True when the thread went to sleep in the fault: it was a major one.
    pub(crate) slept: bool,
    /// True when the kernel was seen at work on it up to `next`.
    pub(crate) goes_on: bool,
    /// True of a write to a page that was there, and write-protected.
    pub(crate) protected: bool,
    /// What the thread touched; 0 where that is not recorded.
    pub(crate) address: u64,
    /// The thread's next entry into a system call, or return from one: the fault was over by then.
    pub(crate) over_by: Option<Ns>,
    /// It fetched an instruction: code is in pages of files, and none of that size is cleared, or copied.
    pub(crate) is_fetch: bool,
    /// It is in memory that the thread mapped in huge pages.
    pub(crate) is_huge: bool,
}

/// A thread lets few others go on that run before it.
const MOST_CALLED: usize = 16;
/// More marks than this in one activation add nothing to its explanation.
const MAX_MARKS: usize = 100_000;

/// To take a lock that is free takes some microseconds.
const SLOW_LOCK: Ns = Ns::from_us(50);
/// The way into a sleep, and the way back, take some microseconds.
const SLOW_SLEEP: Ns = Ns::from_ms(1);

impl Open {
    pub(crate) fn new(begin: Begin, due: Ns, waking: Ns) -> Open {
        Open {
            begin,
            due,
            origin: None,
            began_fair: false,
            waking,
            woken: None,
            running: None,
            cpu: None,
            awake: None,
            queued_late_by: None,
            period: None,
            errand: None,
            ran_on: None,
            marks: None,
            ends_unseen: false,
            polled: false,
            returned: false,
            slept_on: SleptOn::Unseen,
            executes: false,
            exited: None,
            checkpoint: None,
        }
    }

    /// Where what is not charged yet begins.
    pub(crate) fn charged_until(&self) -> Ns {
        self.checkpoint.as_ref().map_or(self.due, |checkpoint| checkpoint.until)
    }

    /// What cut into its work.
    pub(crate) fn marks(&self) -> &Marks {
        self.marks.as_deref().unwrap_or(&NO_MARKS)
    }

    /// True when nothing cut into its work, and nothing of it is charged yet.
    #[inline]
    pub(crate) fn is_unmarked(&self) -> bool {
        self.marks.is_none() && self.checkpoint.is_none()
    }

    /// Takes over what cut into the work of another part of this activation.
    pub(crate) fn with_marks_of(mut self, other: Option<&Open>) -> Open {
        self.marks = other.and_then(|other| other.marks.clone());
        self
    }

    /// Notes a page fault of the thread, perhaps in memory that it mapped in huge pages.
    pub(crate) fn fault(&mut self, at: Ns, address: u64, is_huge: bool) {
        let faults = &mut self.marks.get_or_insert_default().faults;
        if faults.len() < MAX_MARKS {
            faults.push(Fault {
                at,
                next: None,
                next_is_fault: false,
                slept: false,
                goes_on: false,
                protected: false,
                address,
                over_by: None,
                is_fetch: false,
                is_huge,
            });
        }
    }

    /// Notes that the last page fault is for the thread's next instruction.
    pub(crate) fn fetches_code(&mut self) {
        if let Some(fault) = self.last_fault() {
            fault.is_fetch = true;
        }
    }

    /// Notes that the last page fault is a write to a page that is there.
    pub(crate) fn writes_to_protected(&mut self) {
        if let Some(fault) = self.last_fault() {
            fault.protected = true;
        }
    }

    fn last_fault(&mut self) -> Option<&mut Fault> {
        self.marks.as_mut()?.faults.last_mut()
    }

    /// Notes that something followed on the CPU after the last page fault.
    pub(crate) fn after_fault(&mut self, at: Ns, is_fault: bool) {
        if let Some(fault) = self.last_fault()
            && fault.next.is_none()
        {
            fault.next = Some(at);
            fault.next_is_fault = is_fault;
        }
    }

    /// Notes that the thread enters a system call or returns from one: its last page fault is over.
    pub(crate) fn crosses(&mut self, at: Ns) {
        if let Some(fault) = self.last_fault() {
            fault.over_by.get_or_insert(at);
        }
    }

    /// True where it ran before anything showed that it was woken: how long it had waited is not known.
    pub(crate) fn came_unseen(&self) -> bool {
        self.begin == Begin::Woken(WakeCause::Unseen)
            && self.woken.is_none()
            && self.running == Some(self.due)
    }

    /// Notes that the kernel was seen at work on the last page fault.
    pub(crate) fn still_in_fault(&mut self, at: Ns) {
        if let Some(fault) = self.last_fault().filter(|fault| fault.next.is_none() || fault.goes_on) {
            (fault.next, fault.goes_on) = (Some(at), true);
        }
    }

    /// Notes that the thread goes to sleep in its last page fault.
    pub(crate) fn sleeps_in_fault(&mut self, at: Ns) {
        if let Some(fault) = self.last_fault() {
            // Whatever was seen on the way into the sleep was part of the fault.
            fault.next = Some(at);
            fault.slept = true;
        }
    }

    /// Notes what its program wrote about its lateness; the first time counts.
    pub(crate) fn says(&mut self, at: Ns, text: Marker) {
        self.marks.get_or_insert_default().said.get_or_insert((at, text));
    }

    /// Forgets the marks before `until`, which are charged.
    pub(crate) fn forget_marks(&mut self, until: Ns) {
        let Some(Marks { faults, spins, slow_ways, preempted_sleeps, spent, .. }) = self.marks.as_deref_mut()
        else {
            return;
        };
        // The last fault is where what follows is noted.
        let last = faults.len().saturating_sub(1);
        let charged = faults.partition_point(|fault| fault.at < until);
        faults.drain(..charged.min(last));
        spins.retain(|spin| spin.1 > until);
        slow_ways.retain(|sleep| sleep.1 > until);
        preempted_sleeps.retain(|sleep| sleep.1 > until);
        spent.retain(|spent| spent.to > until);
    }

    /// Notes that the thread returns from a system call, and runs since `since`; `sleep`: the call is a sleep.
    pub(crate) fn returns(&mut self, at: Ns, since: Ns, sleep: bool) {
        let first = !std::mem::replace(&mut self.returned, true);
        if first && sleep {
            if let Some(marks) = self.marks.as_deref_mut() {
                let Marks { slow_ways, preempted_sleeps, .. } = marks;
                slow_ways.append(preempted_sleeps);
            }
            self.sleeps_slowly(since, at);
        }
    }

    /// Notes that the thread had the CPU for all of this time, on its way into a sleep or out of it.
    fn sleeps_slowly(&mut self, from: Ns, to: Ns) {
        if to - from >= SLOW_SLEEP {
            push(&mut self.marks.get_or_insert_default().slow_ways, (from, to));
        }
    }

    /// The same, and then the thread was preempted. Its return from the call may have been lost before that.
    pub(crate) fn sleeps_slowly_if_it_returns(&mut self, from: Ns, to: Ns) {
        if to - from >= SLOW_SLEEP {
            push(&mut self.marks.get_or_insert_default().preempted_sleeps, (from, to));
        }
    }

    /// Notes in what it spent its time.
    pub(crate) fn spends(&mut self, spent: Spent) {
        let marks = &mut self.marks.get_or_insert_default().spent;
        if marks.len() < MAX_MARKS {
            marks.push(spent);
        }
    }

    /// Notes the short system calls that it made most of.
    pub(crate) fn made(&mut self, calls: Calls, name: Option<&'static str>) {
        self.marks.get_or_insert_default().many_calls = Some((calls, name));
    }

    /// Notes that it woke a thread that runs before it.
    pub(crate) fn calls(&mut self, tid: Tid) {
        let called = &mut self.marks.get_or_insert_default().called;
        if called.len() < MOST_CALLED && !called.contains(&tid) {
            called.push(tid);
        }
    }

    /// Notes that it goes to sleep for what is no mutex.
    pub(crate) fn waits_for_other_lock(&mut self, wait: OtherLock) {
        let marks = &mut self.marks.get_or_insert_default().other_locks;
        if marks.len() < MAX_MARKS {
            marks.push(wait);
        }
    }

    /// Notes that the thread spun for a lock; since `free` it has the CPU, and the lock is its own: it takes that at once.
    pub(crate) fn spin(&mut self, from: Ns, to: Ns, free: Option<Ns>) {
        let marks = self.marks.get_or_insert_default();
        let free = free.filter(|&free| to - free >= SLOW_LOCK);
        push(&mut marks.spins, (from, free.unwrap_or(to)));
        if let Some(free) = free {
            push(&mut marks.slow_ways, (free, to));
        }
    }
}

/// Adds a mark, unless there are too many.
fn push(marks: &mut Vec<(Ns, Ns)>, mark: (Ns, Ns)) {
    if marks.len() < MAX_MARKS {
        marks.push(mark);
    }
}
