//! What a chain of threads is made from: which thread let which other go on, noted as it happens where chains are asked
//! for.

use super::activations::{Open, WakeCause};
use super::names::NameId;
use whylate_base::{Ns, Tid};

/// A step of a chain, in the order in which they happen.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    /// A wake-up of `tid` begins.
    Waking { tid: Tid, at: Ns, cause: WakeCause, by: HandOff },
    /// An activation of `tid` begins; it is the one in progress.
    Began { tid: Tid },
    /// An activation of `tid` is over; `whole`: its end was seen.
    Ended { tid: Tid, open: Box<Open>, end: Ns, whole: bool },
    /// A thread sent this packet to another of this machine, from `at` on.
    Sent { skb: u64, at: Ns, by: Tid, dev: NameId },
    /// A thread sent a packet by this device, which leaves the machine.
    Left { at: Ns, by: Tid, dev: NameId },
    /// A thread reads this packet.
    Read { skb: u64, at: Ns, tid: Tid },
    /// A thread queued this work item.
    Queued { work: u64, at: Ns, by: Tid },
    /// A thread begins this callback of its program.
    Callback { tid: Tid, at: Ns, name: NameId },
}

/// By what a thread lets another go on, as far as its system call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HandOff {
    /// A futex: a condition variable, a semaphore, a lock.
    Futex,
    /// A write: to a pipe, an eventfd, a terminal.
    Write,
    /// A message to a socket.
    Send,
    /// A signal.
    Signal,
    /// Another system call, or one that was not recorded.
    Wake,
    /// A packet.
    Packet,
    /// A work item.
    Work,
    /// The thread itself calls what follows.
    Call,
}

impl HandOff {
    /// The code in reports.
    pub(crate) fn code(self) -> &'static str {
        match self {
            HandOff::Futex => "futex",
            HandOff::Write => "write",
            HandOff::Send => "send",
            HandOff::Signal => "signal",
            HandOff::Wake => "wake",
            HandOff::Packet => "packet",
            HandOff::Work => "work",
            HandOff::Call => "call",
        }
    }
}
