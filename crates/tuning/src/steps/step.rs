//! One step for a setting.

use crate::{ApplyStep, Setting, StepAction, Target, TargetState};

/// A target is given a state, for a setting.
pub(super) fn step(target: Target, state: TargetState, setting: &Setting) -> ApplyStep {
    ApplyStep { target, action: StepAction::Set(state), notify: None, settings: vec![setting.to_string()] }
}
