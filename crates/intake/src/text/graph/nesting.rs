//! How deep calls are where the blanks in front of them were lost, as on a page that keeps one: by their braces.
//!
//! The kernel prints two blanks before the outermost call (`print_graph_entry_nested` in kernel/trace/trace_functions_graph.c), so fewer
//! before the first one of a text are not its own. Where lines are missing, braces show less than blanks do: calls that were entered before
//! a gap are not taken for those that return behind it.

use super::call::{Call, CallPart};
use whylate_events::Symbol;

/// FTRACE_RETFUNC_DEPTH of the kernel is 50; nothing is deeper in a trace.
const DEEPEST: usize = 256;
/// The depth of the first call. What was entered above it returns below.
const FIRST: u32 = 128;

/// The calls of a CPU that are open, as braces show them.
#[derive(Debug)]
pub(super) struct Braces {
    /// Their functions.
    open: Vec<Symbol>,
    /// The depth of the first of them.
    base: u32,
    /// No call was entered at a smaller depth.
    lowest: u32,
}

impl Default for Braces {
    fn default() -> Braces {
        Braces { open: Vec::new(), base: FIRST, lowest: FIRST }
    }
}

impl Braces {
    /// The call, at the depth that the braces so far show.
    pub(super) fn placed(&mut self, call: Call) -> Call {
        let returns = matches!(call.part, CallPart::Exit(_));
        // The name at a brace contradicts: a line between the two is missing.
        if returns && self.open.last().is_some_and(|name| !call.name.is_empty() && call.name != *name) {
            self.gap();
        }
        if returns && self.open.pop().is_none() {
            self.base = self.base.saturating_sub(1);
        }
        let depth = self.base.saturating_add(u32::try_from(self.open.len()).unwrap_or(u32::MAX));
        self.lowest = self.lowest.min(depth);
        if call.part == CallPart::Entry && self.open.len() < DEEPEST {
            self.open.push(call.name);
        }
        Call { depth, ..call }
    }

    /// Lines are missing here, or are those of another thread: what follows is in none of the calls so far.
    pub(super) fn gap(&mut self) {
        self.open.clear();
        self.lowest = self.lowest.saturating_sub(1);
        self.base = self.lowest;
    }
}
