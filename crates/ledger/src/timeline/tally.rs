//! How many activations a thread had that are not explained, and how late it was: enough to choose by.

use super::activations::{Begin, Open};
use super::states::State;
use whylate_base::Ns;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) activations: u64,
    /// The longest time from due to running, or to the end where it never ran; `None`: none was seen from its beginning.
    pub(crate) latency: Option<Ns>,
    /// The longest time that it was runnable, and did not run: woken or preempted.
    pub(crate) wait: Ns,
    /// Since when it waits for a CPU, if it does.
    waits_since: Option<Ns>,
}

impl Tally {
    /// How late it was, as far as either shows it.
    pub(crate) fn worst(&self) -> Option<Ns> {
        self.latency.max(Some(self.wait).filter(|&wait| wait > Ns::ZERO))
    }

    /// It is in `state` from `at` on.
    #[inline]
    pub(crate) fn enters(&mut self, at: Ns, state: State, before: State) {
        match (state, before) {
            // Where it waits is no matter.
            (State::Queued(_), State::Queued(_)) => {}
            (State::Queued(_), _) => self.waits_since = Some(at),
            (State::Running(_), State::Queued(_)) => {
                self.wait = self.wait.max(self.waits_since.map_or(Ns::ZERO, |since| at - since));
            }
            _ => {}
        }
    }

    /// One more activation, seen up to `end`.
    pub(crate) fn count(&mut self, open: &Open, end: Ns) {
        self.activations += 1;
        if open.begin != Begin::TraceStart && !open.came_unseen() {
            // Of one that is cut off as it becomes due nothing is seen.
            let until = open.running.or(Some(end).filter(|&end| end > open.due));
            self.latency = self.latency.max(until.map(|until| until.since(open.due)));
        }
    }
}
