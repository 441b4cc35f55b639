//! What is known of the threads where the recording changes in the middle: other kinds of events, or none for a while.

use super::Timeline;
use whylate_base::Ns;
use whylate_events::{Kind, KindSet};

impl Timeline {
    /// From here on, these kinds of events are recorded. What only the others would end is over: the return from a system
    /// call and the end of a page fault do not show any more.
    pub(crate) fn set_recorded(&mut self, recorded: KindSet) {
        let gone = self.recorded.minus(recorded);
        self.recorded = recorded;
        self.seen = self.seen.minus(gone);
        let (calls, faults) = (gone.contains(Kind::Syscall), gone.contains(Kind::PageFault));
        let locks = gone.contains(Kind::Contention);
        if !(calls || faults || locks) {
            return;
        }
        for thread in self.threads.iter_mut() {
            if calls {
                thread.syscall = None;
                thread.syscalls_recorded = false;
            }
            if calls || faults {
                thread.faulting = None;
                thread.sleeps_in_fault = false;
            }
            if locks {
                thread.contending = None;
            }
        }
    }

    /// Nothing was recorded up to `at`. Activations in progress may have ended, and others begun: none of them is known.
    pub(crate) fn resumes(&mut self, at: Ns) {
        for thread in self.threads.iter_mut() {
            thread.lose(at);
            thread.open = None;
            thread.faulting = None;
            thread.sleeps_in_fault = false;
        }
    }
}
