//! The two priorities of a thread.

use whylate_base::Priority;

/// A thread's effective priority, and its own where it runs at an inherited one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Priorities {
    pub(super) effective: Priority,
    pub(super) unboosted: Option<Priority>,
}

impl Priorities {
    pub(super) fn own(self) -> Priority {
        self.unboosted.unwrap_or(self.effective)
    }
}
