//! What takes the place of values of a task set.

use crate::model::KernelSeries;

/// What the command line sets instead of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The kernel's version; with `rt` in the release it is PREEMPT_RT.
    pub kernel: Option<(KernelSeries, bool)>,
    /// How many CPUs.
    pub cpus: Option<u32>,
}
