//! What a plan decides.

use crate::{Plan, Setting};
use whylate_profiles::Selector;

/// The settings that a plan sets, with the value each is to have.
pub(super) fn targets(plan: &Plan) -> impl Iterator<Item = (&Setting, Option<&str>)> {
    let changed = plan.changes.iter().map(|change| (&change.setting, change.then.as_deref()));
    changed.chain(plan.unchanged.iter().map(|kept| (&kept.setting, kept.value.as_deref())))
}

/// Whether a plan itself keeps a unit from running.
pub(super) fn stops(plan: &Plan, unit: &str) -> bool {
    plan.desired.settings.iter().any(|desired_setting| match &desired_setting.selector {
        Selector::UnitActive { unit: own } => {
            own == unit && desired_setting.value.as_deref() == Some("inactive")
        }
        Selector::UnitEnabled { unit: own } => {
            own == unit && matches!(desired_setting.value.as_deref(), Some("disabled" | "masked"))
        }
        _ => false,
    })
}
