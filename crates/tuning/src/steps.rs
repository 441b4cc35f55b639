//! From what is to be changed to what is really written, step by step.
//!
//! The order is that of the plan for what counts at once; then files, those that make it last first and the boot
//! loader's last: whatever cuts an apply off, the machine does not boot with settings that nothing would undo.

mod fair_server;
mod partition;

use crate::boot::BootError;
use crate::persist::PersistError;
use crate::variable::VariableError;
use crate::{Action, Cell, Change, Plan, Setting, State, Step, System, boot, persist, variable};

/// Why steps could not be made of a plan.
#[derive(Debug, thiserror::Error)]
pub enum StepsError {
    /// A configuration file cannot be changed.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// What makes settings last cannot be made.
    #[error(transparent)]
    Persist(#[from] PersistError),
    /// The boot loader cannot be told.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// The plan has a change that cannot be made.
    #[error("cannot {setting}: {why}")]
    Change {
        /// Of which setting.
        setting: String,
        /// Why not.
        why: String,
    },
}

/// All steps of a plan, of the apply with this number. Nothing is written.
///
/// # Errors
/// If a change cannot be made, or a file that is to be changed cannot be read.
pub fn steps(plan: &Plan, id: u64, system: &dyn System) -> Result<Vec<Step>, StepsError> {
    let changes: Vec<&Change> = plan.changes.iter().collect();
    let mut steps = runtime_steps(plan, system)?;
    steps.extend(variable::steps(&changes, system)?);
    steps.extend(persist::steps(plan, id, system)?);
    steps.extend(boot::steps(&changes, system)?);
    Ok(steps)
}

/// The steps of what counts at once: what an apply begins with, and what is made again at each boot.
///
/// # Errors
/// If a change cannot be made.
pub fn runtime_steps(plan: &Plan, system: &dyn System) -> Result<Vec<Step>, StepsError> {
    let mut steps = Vec::new();
    let mut fair = fair_server::Pairs::of(&plan.changes);
    for change in &plan.changes {
        match &change.setting {
            Setting::Knob { path } if fair_server::is_one(path) => steps.extend(fair.steps(path, system)),
            Setting::Knob { path } => steps.push(value(Cell::Knob { path: path.clone() }, change)?),
            Setting::ThreadPolicy { thread } => {
                steps.push(value(Cell::ThreadPolicy { thread: thread.clone() }, change)?);
            }
            Setting::ThreadCpus { thread } => {
                steps.push(value(Cell::ThreadCpus { thread: thread.clone() }, change)?);
            }
            Setting::UnitActive { unit } => {
                steps.push(value(Cell::UnitActive { unit: unit.clone() }, change)?)
            }
            Setting::Partition { group } => steps.extend(partition::steps(group, change, system)?),
            Setting::Parameter { .. }
            | Setting::UnitEnabled { .. }
            | Setting::Variable { .. }
            | Setting::CpuDmaLatency => {}
        }
    }
    Ok(steps)
}

/// One cell that gets the change's value.
fn value(cell: Cell, change: &Change) -> Result<Step, StepsError> {
    let then = change.then.clone().ok_or_else(|| refused(change, "it has to have some value"))?;
    Ok(step(cell, State::Value(then), &change.setting))
}

fn step(cell: Cell, state: State, setting: &Setting) -> Step {
    Step { cell, action: Action::Set(state), tell: None, settings: vec![setting.to_string()] }
}

fn refused(change: &Change, why: impl Into<String>) -> StepsError {
    StepsError::Change { setting: format!("set {}", change.setting), why: why.into() }
}
