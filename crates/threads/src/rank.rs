//! The order in which the kernel runs threads.

use whylate_base::Policy;

/// The order in which threads of one CPU run, by their policy and real-time priority: lower ones first (sched(7)).
pub(crate) fn rank(policy: Option<Policy>, priority: u32) -> (u8, u32) {
    match policy {
        Some(Policy::Deadline) => (0, 0),
        Some(Policy::Fifo | Policy::Rr) => (1, 100 - priority.min(100)),
        _ => (2, 0),
    }
}
