//! No unwinder for the architecture that this program is built for: a stack is the sampled address alone.

use crate::files::ModuleFiles;
use crate::frame::UnwoundFrame;
use crate::sample::{UserRegisters, UserStack};
use crate::space::Space;

/// As that of an architecture with an unwinder.
#[derive(Default)]
pub(crate) struct Cache;

/// As that of an architecture with an unwinder.
#[derive(Clone)]
pub(crate) struct FrameTables;

impl FrameTables {
    pub(crate) fn new(_: &Space, _: &ModuleFiles) -> FrameTables {
        FrameTables
    }
}

/// Appends nothing: the callers are not known.
pub(crate) fn unwind(
    _: &Space,
    _: &ModuleFiles,
    _: &FrameTables,
    _: &mut Cache,
    _: (&UserRegisters, &UserStack<'_>),
    _: (&mut Vec<UnwoundFrame>, usize),
) {
}
