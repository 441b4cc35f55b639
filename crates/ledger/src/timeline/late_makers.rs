//! What came late, and made packets, softirqs and work items: a thread that one of them wakes was due before.

use whylate_base::{Cpu, Ns, Tid};

/// What a late work item or timer sets off follows it within this time, or within the time by which it was late.
const SOON: Ns = Ns::from_ms(10);

/// A work item or a timer that began late, as the thread that was to do it waited for a CPU. The packets, work items and softirqs that it
/// makes would have been there earlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LateMaker {
    /// When it was queued, or was to expire.
    pub(crate) since: Ns,
    /// When it began.
    pub(crate) begun: Ns,
    /// The thread that did it.
    pub(crate) carrier: Tid,
    pub(crate) cpu: Cpu,
}

impl LateMaker {
    /// True where it may be what led to something at `at`: that came soon after.
    pub(crate) fn leads_to(&self, at: Ns) -> bool {
        at >= self.begun && at - self.begun <= (self.begun - self.since).max(SOON)
    }
}
