//! A call in a line of the function_graph tracer.

use whylate_base::Ns;
use whylate_events::Symbol;

/// A call, or its return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: Symbol,
    pub(crate) depth: u32,
    /// The blanks that the kernel prints are there.
    pub(crate) is_indented: bool,
    pub(crate) part: CallPart,
}

/// Which part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CallPart {
    Entry,
    /// Entry and exit in one line.
    Leaf(Ns),
    Exit(Ns),
}
