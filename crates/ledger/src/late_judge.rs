//! What decides which activations of a stream without end are late.

use whylate_base::{Comm, Ns, Tid};

/// An activation that has ended, before it is charged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndedTimes {
    /// The thread.
    pub tid: Tid,
    /// Its name at the end.
    pub comm: Comm,
    /// When it was due.
    pub due: Ns,
    /// When it first ran; `None` if it never did, or ran already.
    pub running: Option<Ns>,
    /// When it was done, or the last instant that was seen of it.
    pub end: Ns,
    /// It was seen from its beginning to its end.
    pub is_whole: bool,
    /// It was seen from its beginning, and starts no program: it counts as one of the thread's periods.
    pub is_period: bool,
    /// What made it due may keep a period: a timer, or its own marker.
    pub may_be_periodic: bool,
}

impl EndedTimes {
    /// Due to the end.
    pub fn response(&self) -> Ns {
        self.end.since(self.due)
    }

    /// Due to running, if it ran and was seen to become due.
    pub fn latency(&self) -> Option<Ns> {
        self.running.filter(|_| self.is_period).map(|running| running.since(self.due))
    }
}

/// What decides which activations are explained.
pub trait LateJudge {
    /// Takes an ended activation in; true when it is late, and to be explained.
    fn is_late(&self, ended: &EndedTimes) -> bool;

    /// The deadline that the late activation which was due then has missed; `None`: it was late by something else.
    fn deadline(&self, _tid: Tid, _due: Ns) -> Option<Ns> {
        None
    }
}
