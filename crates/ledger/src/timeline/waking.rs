//! A wake-up that is under way: what began it, and which waits it ends.

use super::activations::WakeCause;
use super::housekeeping::{does_requests, is_kworker};
use super::origins::Origin;
use super::sleeps::Wait;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};

/// A wake-up in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waking {
    pub(crate) at: Ns,
    pub(crate) due: Ns,
    pub(crate) cause: WakeCause,
    /// What it began with, where that was before.
    pub(crate) origin: Option<Origin>,
    /// The CPU that made it.
    pub(crate) on: Option<Cpu>,
    /// That did so upon its idle task.
    pub(crate) upon_idle: bool,
    /// The name and priority the event gives the woken thread.
    pub(crate) comm: Comm,
    pub(crate) prio: Priority,
}

impl Waking {
    /// One at `at` of which no event shows what began it.
    pub(crate) fn unseen(at: Ns, comm: Comm, prio: Priority) -> Waking {
        Waking { at, due: at, cause: WakeCause::Unseen, origin: None, on: None, upon_idle: false, comm, prio }
    }

    /// The CPU that made it upon its idle task, and so had left its idle state by then.
    pub(crate) fn awake(&self) -> Option<Cpu> {
        self.on.filter(|_| self.upon_idle)
    }

    /// The wait that it ends of a thread of this name: a kworker, or a thread for requests, is idle until a device is done or an item
    /// of work, as a thread is that waits for one.
    pub(crate) fn of_device(&self, wait: Wait, comm: Comm) -> Wait {
        let is_left_to_a_thread = matches!(self.cause, WakeCause::Timer { expirer: Some(_), .. })
            || self.origin.is_some_and(|origin| origin.carrier.is_some());
        match is_left_to_a_thread && (is_kworker(comm.as_str()) || does_requests(comm.as_str())) {
            true => Wait::Io,
            false => wait,
        }
    }

    /// Since when the device or the timer that ended a sleep was done, where the kernel's thread of it came later.
    pub(crate) fn done_since(&self, wait: Wait) -> Option<Ns> {
        match (wait, self.cause) {
            (Wait::Io | Wait::KernelTimer, WakeCause::Timer { hard_due, expirer: Some(_), .. }) => {
                Some(hard_due)
            }
            (Wait::Io | Wait::KernelTimer | Wait::Work, _) => {
                self.origin.filter(|origin| origin.carrier.is_some()).map(|origin| origin.since)
            }
            _ => None,
        }
    }

    /// The thread that woke, or in which the softirq did: on PREEMPT_RT locks belong to that as well.
    pub(crate) fn in_thread(&self) -> Option<Tid> {
        let handler = match self.cause {
            WakeCause::Timer { expirer, .. } => expirer,
            _ => self.origin.and_then(|origin| origin.carrier),
        };
        self.cause.waker().or(handler)
    }

    /// The thread that woke. For what the woken one writes to a socket it is the one that made room: it sent the packet that
    /// says so. For a device, a timer or a lock of the kernel it is the one that the interrupt or the softirq was left to.
    pub(crate) fn waker(&self, wait: Wait) -> Option<Tid> {
        match wait {
            Wait::Output | Wait::Reply { .. } => {
                self.cause.waker().or_else(|| self.origin.and_then(|origin| origin.by))
            }
            Wait::Io | Wait::KernelTimer | Wait::KernelLock { .. } => self.in_thread(),
            _ => self.cause.waker(),
        }
    }
}

/// A thread contends for a lock of the kernel: it spins or sleeps until the owner lets it go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contention {
    pub(crate) since: Ns,
    /// When it was last woken: by the one that let the lock go, to which the lock belonged until then.
    pub(crate) let_go: Option<Ns>,
    /// Its readers are counted on each CPU: a writer waits for a grace period of RCU as well, which no thread holds
    /// (`percpu_down_write()`, `kernel/locking/percpu-rwsem.c`).
    pub(crate) is_percpu: bool,
    /// It is a semaphore, which no thread owns: who waits for one interruptibly waits for what others bring
    /// (`down_interruptible()`, `kernel/locking/semaphore.c`).
    pub(crate) is_semaphore: bool,
}

/// A wait on a futex in the middle of a period that ended by its timeout: part of a wait for a lock, if the thread waits again
/// or is handed it; else a sleep of its own, after which the next activation began.
#[derive(Clone, Debug)]
pub(crate) struct Timeout {
    /// The futex.
    pub(crate) word: u64,
    /// When the wait began.
    pub(crate) since: Ns,
    /// When the thread was on the runqueue of `cpu` again.
    pub(crate) woken: Ns,
    pub(crate) cpu: Cpu,
    pub(crate) waking: Waking,
}
