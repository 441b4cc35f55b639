//! One step for a setting.

use crate::{Action, Cell, Setting, State, Step};

/// A cell is given a state, for a setting.
pub(super) fn step(cell: Cell, state: State, setting: &Setting) -> Step {
    Step { cell, action: Action::Set(state), tell: None, settings: vec![setting.to_string()] }
}
