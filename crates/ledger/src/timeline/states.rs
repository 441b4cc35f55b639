//! What a thread does at each instant: it runs, it is runnable, or it sleeps.

use super::sleeps::Wait;
use whylate_base::{Cpu, Ns, Tid};

/// What a thread does from one instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// Not seen yet, or events were lost.
    Unknown,
    /// On a CPU.
    Running(Cpu),
    /// Runnable, on a CPU's runqueue.
    Queued(Cpu),
    /// Asleep, for a reason, until a wakeup.
    Blocked {
        wait: Wait,
        /// The thread that woke it, once one has.
        waker: Option<Tid>,
    },
}

/// What a thread does, and since when; it ends where the next begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: Ns,
    pub(crate) state: State,
}

/// A part of a thread's life in one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stay {
    pub(crate) from: Ns,
    pub(crate) to: Ns,
    pub(crate) state: State,
}
