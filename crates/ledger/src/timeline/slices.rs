//! A piece of a CPU's time, in which it ran one thing.

use super::running::Running;
use whylate_base::Ns;

/// From `start` to the next slice's start, one content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuSlice {
    pub(crate) start: Ns,
    pub(crate) running: Running,
    /// True when it began with a context switch, so that the scheduler chose it.
    pub(crate) switched: bool,
}

/// A clipped slice: from, to, and the slice it is part of.
pub(crate) type Clip = (Ns, Ns, CpuSlice);
