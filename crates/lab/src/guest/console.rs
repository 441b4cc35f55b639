//! The lines by which the host follows a guest on its console.

/// The console line of a guest that is ready for its first step.
pub(crate) const READY: &str = "whylate-guest: ready";
/// The console line before the results are written.
pub(crate) const DONE: &str = "whylate-guest: done";
/// The console line that requests a power cut; the exit code of the step before follows.
pub(crate) const CUT: &str = "whylate-guest: cut";
