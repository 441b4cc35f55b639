//! What a thread sleeps for.

use whylate_base::{Confidence, Tid};

/// What a sleeping thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Its next period: a sleep with a time.
    Period,
    /// New input: a message, a signal, a condition.
    Input,
    /// A lock another thread holds; its owner where the kernel named it.
    Lock { owner: Option<Tid> },
    /// The same, until its own timeout. No event names the owner: it is the one thread that lets others go on by the same futex.
    TimedLock { owner: Tid },
    /// The same of a lock of the kernel's own, which no program chose.
    KernelLock { owner: Option<Tid> },
    /// A futex by which another thread lets it go on: a semaphore, a condition, a message. Its waker, where the wait is
    /// taken for a lock's, and how sure that is.
    Semaphore { owner: Option<(Tid, Confidence)> },
    /// Room for what it writes, in the middle of its work: a pipe or a socket is full until another thread reads. Or a file of
    /// a file system that another program serves.
    Output,
    /// The answer of another thread that it has set off itself, in the middle of its work.
    Answer { from: Tid, asked: Asked },
    /// Input in the middle of its period, in a call of its own between the sleeps by which it keeps that; until its own timeout
    /// where that ended the sleep.
    Reply { timed_out: bool },
    /// A child that shares its memory, until that runs another program or ends.
    Child,
    /// A kworker, to be done with a work item.
    Work,
    /// A device.
    Io,
    /// What io_uring is to have done in the middle of its work: requests to devices, messages, or its own timeout. What ends
    /// the sleep shows which of them.
    Ring,
    /// A timer that the kernel set for it: a delay in a driver, or a timeout.
    KernelTimer,
    /// Something that the recording does not show: an uninterruptible sleep, without what ended it.
    Uninterruptible,
    /// The readers of RCU on all CPUs.
    GracePeriod,
    /// The stopper thread, to be moved to a CPU it may run on.
    Migration,
    /// To be continued, after a signal stopped it or for the program that traces it; which thread sent the signal, where that
    /// was seen, and its number. `in_sleep`: it stopped in a sleep of its own, which then goes on.
    Stopped { by: Option<Tid>, signal: Option<i32>, traced: bool, in_sleep: bool },
    /// What it waits for in the handler of a signal that came upon a sleep of its own, which then goes on: to be let go on after
    /// it was stopped for a garbage collection.
    Handler,
    /// A page to be read in.
    Fault,
    /// Sleeps, and no syscall was recorded that would show why.
    Unsure,
}

/// What a thread did in place of its answer, by which no other thread kept it from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Itself {
    /// It had a CPU.
    Ran,
    /// It slept until a timer of its own expired.
    Slept,
}

/// What is no mutex of pthreads, and has no priority inheritance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoMutex {
    /// A read-write lock, a condition or a semaphore, by a futex.
    OfPthreads,
    /// What lets all that wait for it go on at once, by a futex.
    WakesAll,
    /// A lock of a file: flock(2), or fcntl(2).
    OfFile,
}

/// How a thread asked another one for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// By a message, a condition or a semaphore.
    Message,
    /// By a call that the kernel leaves to a program: of a file system that one serves (FUSE), or watches (fanotify).
    Call,
    /// By a page fault that the kernel leaves to a program (userfaultfd).
    Fault,
    /// By a call that a filter leaves to a program (seccomp_unotify(2)), before the call shows as one.
    Filter,
    /// By a request to a block device that is a program (nbd), which a thread of the kernel takes the answer of.
    Device,
}

impl Wait {
    /// True when the sleep is part of the activation: it waits for others in the middle of its work.
    pub(crate) fn continues(self) -> bool {
        matches!(
            self,
            Wait::Lock { .. }
                | Wait::TimedLock { .. }
                | Wait::KernelLock { .. }
                | Wait::Semaphore { owner: Some(_) }
                | Wait::Output
                | Wait::Answer { .. }
                | Wait::Reply { .. }
                | Wait::Child
                | Wait::Work
                | Wait::Io
                | Wait::KernelTimer
                | Wait::Uninterruptible
                | Wait::GracePeriod
                | Wait::Fault
                | Wait::Migration
                | Wait::Stopped { in_sleep: false, .. }
        )
    }

    /// True where it delays an activation that was due before it was over.
    pub(crate) fn delays(self) -> bool {
        self.continues() || matches!(self, Wait::Stopped { .. } | Wait::Handler)
    }
}
