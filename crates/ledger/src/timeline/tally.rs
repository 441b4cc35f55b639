//! How many activations a thread had that are not explained, and how late it was: enough to choose by.

use super::activations::{Begin, Open};
use super::history::History;
use super::states::State;
use whylate_base::Ns;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) activations: u64,
    /// The longest time from due to running, or to the end where it never ran; `None`: none was seen from its beginning.
    pub(crate) latency: Option<Ns>,
    /// The longest time that it was runnable on one CPU, and did not run: woken or preempted.
    pub(crate) wait: Ns,
}

impl Tally {
    /// How late it was, as far as either shows it.
    pub(crate) fn worst(&self) -> Option<Ns> {
        self.latency.max(Some(self.wait).filter(|&wait| wait > Ns::ZERO))
    }

    /// It runs from `at` on.
    pub(crate) fn runs(&mut self, at: Ns, before: &History) {
        if let (State::Queued(_), Some(since)) = (before.state(), before.since()) {
            self.wait = self.wait.max(at - since);
        }
    }

    /// One more activation, seen up to `end`.
    pub(crate) fn count(&mut self, open: &Open, end: Ns) {
        self.activations += 1;
        if open.begin != Begin::TraceStart {
            // Of one that is cut off as it becomes due nothing is seen.
            let until = open.running.or(Some(end).filter(|&end| end > open.due));
            self.latency = self.latency.max(until.map(|until| until.since(open.due)));
        }
    }
}
