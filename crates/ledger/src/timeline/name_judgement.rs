//! What was decided by the name of a thread, for as long as it has that.

use std::cell::Cell;
use whylate_base::Comm;

/// What was last decided by a thread's name. Names are long to compare, and change rarely.
#[derive(Default)]
pub(super) struct NameJudgement(Cell<Option<(Comm, bool)>>);

impl NameJudgement {
    #[inline]
    pub(super) fn of(&self, comm: Comm, judge: impl FnOnce(&str) -> bool) -> bool {
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
