//! The start of a thread's program, and its end: what they take is part of them, and no period waits for it.

use super::settings::ResetOnFork;
use std::collections::VecDeque;
use whylate_base::{Ns, Tid};

/// So many activations show that a thread does not run just once.
const SEVERAL: u32 = 3;
/// A thread that ended so soon after it began is over before its id is of use.
const BRIEF: Ns = Ns::from_secs(1);
/// The latest ends of processes; the threads of one follow it soon.
const MOST_ENDS: usize = 16;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lifetime {
    /// When it was forked, if that was seen.
    pub(crate) began: Option<Ns>,
    /// The activations that have begun.
    pub(crate) activations: u32,
    /// The last activation that has begun is part of the start of its program.
    pub(crate) is_starting: bool,
    /// When the start of its program was over, as far as it has gone.
    pub(crate) started: Option<Ns>,
    /// The call that started it shows that it is a thread of its parent's process.
    pub(crate) is_of_parents_process: bool,
    /// What it starts gets none of its policy. Few threads have this and the next, and all would be larger by them.
    pub(crate) resets_on_fork: Option<Box<ResetOnFork>>,
    /// The same of the thread of its process that started it.
    pub(crate) was_reset: Option<Box<ResetOnFork>>,
    /// When it last started a process that shares its pages until one of both writes to them.
    pub(crate) forked: Option<Ns>,
    /// When it last gave up a real-time priority while it ran.
    pub(crate) stepped_down: Option<Ns>,
    /// When it was last sent a signal.
    pub(crate) signalled: Option<Ns>,
    /// Its end, once it has begun.
    pub(crate) end: Option<End>,
}

/// The end of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// When it began: by a call of its own, or by a signal or a call that ended its process.
    pub(crate) began: Ns,
    /// By a call of its own.
    pub(crate) by_itself: bool,
}

impl Lifetime {
    /// True of a thread that has run several times.
    pub(crate) fn has_run_several_times(&self) -> bool {
        self.activations > SEVERAL
    }

    /// True of one that was seen to begin and, soon after that, to end.
    pub(crate) fn is_brief(&self) -> bool {
        self.began.zip(self.end).is_some_and(|(began, end)| end.began.since(began) <= BRIEF)
    }

    /// True of a thread whose end had begun by an instant: what it still does is to leave.
    pub(crate) fn is_over(&self, at: Ns) -> bool {
        self.end.is_some_and(|end| end.began <= at)
    }

    /// True of a thread that another one had begun to end by `due`.
    pub(crate) fn is_killed_by(&self, due: Ns) -> bool {
        self.end.is_some_and(|End { began, by_itself }| !by_itself && began <= due)
    }

    /// True where the time from `due` to `done` is that of the end: a thread that is killed may have gone on for too long before.
    pub(crate) fn ends_in(&self, due: Ns, done: Ns) -> bool {
        self.end.is_some_and(|End { began, by_itself }| {
            by_itself || began <= due || done.since(began).0.saturating_mul(2) >= done.since(due).0
        })
    }
}

/// When processes began to end, and by which of their threads.
#[derive(Debug, Default)]
pub(crate) struct ProcessEnds(VecDeque<ProcessEnd>);

#[derive(Clone, Copy, Debug)]
struct ProcessEnd {
    at: Ns,
    of: Tid,
    /// By SIGKILL, and not by a call of its own.
    by_signal: bool,
}

impl ProcessEnds {
    /// The process of a thread begins to end: by SIGKILL, or by a call of its own.
    pub(crate) fn begins(&mut self, at: Ns, of: Tid, by_signal: bool) {
        if self.0.len() >= MOST_ENDS {
            self.0.pop_front();
        }
        self.0.push_back(ProcessEnd { at, of, by_signal });
    }

    /// When the process of a thread began to end, by one of those that `is_kin` knows to be of it.
    pub(crate) fn of(&self, is_kin: impl Fn(Tid) -> bool) -> Option<Ns> {
        self.0.iter().rev().find(|end| is_kin(end.of)).map(|end| end.at)
    }

    /// When a thread was killed by SIGKILL, the last time before `to`.
    pub(crate) fn killed(&self, tid: Tid, to: Ns) -> Option<Ns> {
        let is_its = |end: &&ProcessEnd| end.by_signal && end.of == tid && end.at < to;
        self.0.iter().rev().find(is_its).map(|end| end.at)
    }
}
