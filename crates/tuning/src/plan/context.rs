//! What a plan is made from, beside the profile.

use super::next_boot::NextBoot;
use whylate_host::{FsRoot, Snapshot};

/// A machine to plan for.
pub(super) struct PlanContext<'a> {
    /// Its files.
    pub(super) tree: &'a FsRoot,
    /// What was read of it already.
    pub(super) host: &'a Snapshot,
    /// The parameters that its next boot will have.
    pub(super) boot: NextBoot,
}

impl<'a> PlanContext<'a> {
    pub(super) fn new(tree: &'a FsRoot, host: &'a Snapshot) -> PlanContext<'a> {
        PlanContext { tree, host, boot: NextBoot::read(tree, host) }
    }
}
