//! One step for a setting.

use crate::{ApplyStep, Change, StepAction, Target, TargetState};

/// A target is given a state, for a change.
pub(super) fn step(target: Target, state: TargetState, change: &Change) -> ApplyStep {
    ApplyStep {
        target,
        action: StepAction::Set(state),
        notify: None,
        settings: vec![change.setting.to_string()],
        optional: change.optional,
    }
}
