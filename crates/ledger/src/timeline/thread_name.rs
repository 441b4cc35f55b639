//! The name of a thread over time, and what is decided by it for as long as the thread has it.

use super::housekeeping::{is_housekeeping, is_of_kernel};
use super::past::Past;
use std::cell::Cell;
use whylate_base::Comm;

/// The names of one thread. Names are long to compare with others, and change rarely: what follows from one is kept.
#[derive(Default)]
pub(super) struct ThreadName {
    pub(super) over_time: Past<Comm>,
    housekeeping: Judgement,
    of_kernel: Judgement,
    selected: Judgement,
}

/// What was last decided by a name.
#[derive(Default)]
struct Judgement(Cell<Option<(Comm, bool)>>);

impl Judgement {
    #[inline]
    fn of(&self, comm: Comm, judge: impl FnOnce(&str) -> bool) -> bool {
        match self.0.get() {
            Some((judged, is)) if judged == comm => is,
            _ => {
                let is = judge(comm.as_str());
                self.0.set(Some((comm, is)));
                is
            }
        }
    }
}

impl ThreadName {
    #[inline]
    pub(super) fn is_housekeeping(&self) -> bool {
        self.housekeeping.of(self.over_time.latest(), is_housekeeping)
    }

    #[inline]
    pub(super) fn is_of_kernel(&self) -> bool {
        self.of_kernel.of(self.over_time.latest(), is_of_kernel)
    }

    /// Whether the user's choice has it: `judge`, always the same one, decides.
    #[inline]
    pub(super) fn is_selected(&self, judge: impl FnOnce(&str) -> bool) -> bool {
        self.selected.of(self.over_time.latest(), judge)
    }
}
