//! Groups side by side, as they are reported.

use whylate_investigate::compare::groups::GroupComparison;

/// Groups side by side, and what was left out of them.
#[derive(Clone, Debug)]
pub struct ComparedGroups {
    /// The groups.
    pub comparison: GroupComparison,
    /// Measurements that are in no group, in sentences.
    pub left_out: Vec<String>,
}
