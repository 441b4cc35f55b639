//! A comparison of settings as it is to be shown.

use whylate_tuning::SettingsComparison;

/// A comparison of settings, and how much of it is shown.
#[derive(Clone, Copy, Debug)]
pub struct PlanComparison<'a> {
    /// The comparison.
    pub comparison: &'a SettingsComparison,
    /// Whether settings that are the same on both sides are listed; otherwise they are counted. JSON lists them always.
    pub all: bool,
}
