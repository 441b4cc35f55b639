//! How a thread has its periods, by sleeps or by the timeouts of an event loop, and what it waits for in them.

use super::cycles::Cycles;
use super::sleeps::Wait;
use whylate_base::{Ns, Tid};

/// So many periods show how a thread spends them.
const ENOUGH_PERIODS: u32 = 3;
/// In more waits than so many for each period, a thread waits for a reader as others do for their next period.
const MOST_OUTPUTS: u32 = 20;
/// So many answers of one thread show that it answers.
const ENOUGH_ANSWERS: u32 = 3;
/// So many threads that answer are remembered; a thread asks few.
const MOST_PEERS: usize = 8;

/// The waits of a thread, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Periods {
    /// Sleeps until or for a time; as the other waits here, by the states in which the thread left its CPU.
    sleeps: Instants,
    /// Waits for input that ended by their own timeouts, as the timers of an event loop end them.
    timeouts: Instants,
    /// Waits for a semaphore, and to write.
    semaphores: u32,
    outputs: u32,
    /// The threads that answered this one in its periods, and how often.
    answers: Vec<(Tid, u32)>,
    pub(crate) cycles: Cycles,
}

/// Instants of one kind, in numbers.
#[derive(Clone, Debug, Default)]
struct Instants {
    count: u32,
    /// The first and the last one.
    span: Option<(Ns, Ns)>,
}

impl Instants {
    fn add(&mut self, at: Ns) {
        self.count += 1;
        self.span = Some((self.span.map_or(at, |(first, _)| first), at));
    }

    /// From one to the next; `None` of too few.
    fn mean_distance(&self) -> Option<Ns> {
        let (first, last) = self.span.filter(|_| self.count >= ENOUGH_PERIODS)?;
        Some(Ns((last - first).0 / i64::from(self.count - 1)))
    }
}

impl Periods {
    /// The thread goes to sleep at `at`.
    pub(crate) fn note_wait(&mut self, at: Ns, wait: Wait) {
        match wait {
            Wait::Period => self.sleeps.add(at),
            Wait::Semaphore { .. } => self.semaphores += 1,
            Wait::Output => self.outputs += 1,
            _ => {}
        }
    }

    /// A wait of the thread for input ended by its timeout.
    pub(crate) fn note_timeout(&mut self, at: Ns) {
        self.timeouts.add(at);
    }

    /// The thread was given an answer by another one that it had set off in its period.
    pub(crate) fn note_answer(&mut self, from: Tid) {
        if let Some((_, times)) = self.answers.iter_mut().find(|(peer, _)| *peer == from) {
            *times = times.saturating_add(1);
        } else if self.answers.len() < MOST_PEERS {
            self.answers.push((from, 1));
        }
    }

    /// True for a thread that answers this one in its periods.
    pub(crate) fn is_answered_by(&self, peer: Tid) -> bool {
        self.answers.iter().any(|&(from, times)| from == peer && times >= ENOUGH_ANSWERS)
    }

    /// True for a thread that sleeps from period to period.
    pub(crate) fn are_by_sleeps(&self) -> bool {
        self.sleeps.count >= ENOUGH_PERIODS
    }

    /// True for a thread that does what its timers say as well as what its input is: an event loop.
    pub(crate) fn are_by_timeouts(&self) -> bool {
        self.timeouts.count >= ENOUGH_PERIODS
    }

    /// The mean time from one sleep between periods to the next, or from one timeout of an event loop to the next; `None` without
    /// enough of them.
    pub(crate) fn usual(&self) -> Option<Ns> {
        self.sleeps.mean_distance().or_else(|| self.timeouts.mean_distance())
    }

    /// True for a thread that sleeps from period to period, and writes in them: its writes are not what makes its periods.
    pub(crate) fn writes_in_periods(&self) -> bool {
        self.are_by_sleeps() && self.outputs < self.sleeps.count.saturating_mul(MOST_OUTPUTS)
    }

    /// True for a thread that sleeps from period to period, and waits for a semaphore in fewer than half of them.
    pub(crate) fn seldom_waits(&self) -> bool {
        self.are_by_sleeps() && self.semaphores * 2 < self.sleeps.count
    }
}
