//! What the fixes of a task set have in common.

/// Why no setting makes one: a simulated task runs on no machine.
pub(super) const TASK_SET: &str = "it is a change of the task set: make it there and simulate again";
