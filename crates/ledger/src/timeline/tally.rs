//! How many activations a thread had that are not explained, and how late it was: enough to choose by.

use super::activations::{Begin, Open};
use whylate_base::Ns;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) activations: u64,
    /// The longest time from due to running, or to the end where it never ran; `None`: none was seen from its beginning.
    pub(crate) latency: Option<Ns>,
}

impl Tally {
    /// One more activation, seen up to `end`.
    pub(crate) fn count(&mut self, open: &Open, end: Ns) {
        self.activations += 1;
        if open.begin != Begin::TraceStart {
            let latency = open.running.unwrap_or(end).since(open.due);
            self.latency = self.latency.max(Some(latency));
        }
    }
}
