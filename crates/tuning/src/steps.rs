//! From what is to be changed to what is really written, step by step.
//!
//! The order is that of the plan for what counts at once; then files, those that make it last first and the boot
//! loader's last: whatever cuts an apply off, the machine does not boot with settings that nothing would undo.

mod error;
mod fair_server;
mod partition;
mod step;

pub use error::StepsError;

use crate::files::SystemFiles;
use crate::persist;
use crate::{ApplyStep, Change, Plan, Setting, System, Target, TargetState};
use error::refused;
use step::step;
use whylate_bootloader::{
    BootError, ConfigurationChange, ConfigurationSubject, Parameter, VariableError, edits, variable_edits,
};

/// All steps of a plan, of the apply with this number. Nothing is written.
///
/// # Errors
/// If a change cannot be made, or a file that is to be changed cannot be read.
pub fn steps(plan: &Plan, id: u64, system: &dyn System) -> Result<Vec<ApplyStep>, StepsError> {
    let mut steps = runtime_steps(plan, system)?;
    steps.extend(configuration(&plan.changes, system)?);
    steps.extend(persist::steps(plan, id, system)?);
    steps.extend(parameters(&plan.changes, system)?);
    Ok(steps)
}

/// The steps of configuration files.
fn configuration(changes: &[Change], system: &dyn System) -> Result<Vec<ApplyStep>, VariableError> {
    let subject = |setting: &Setting| match setting.clone() {
        Setting::Variable { file, section, name } => {
            Some(ConfigurationSubject::Variable { file, section, name })
        }
        Setting::UnitEnabled { unit } => Some(ConfigurationSubject::UnitAtBoot { unit }),
        _ => None,
    };
    let changes = changes.iter().filter_map(|change| {
        let (value, setting) = (change.then.clone(), change.setting.to_string());
        Some(ConfigurationChange { subject: subject(&change.setting)?, value, setting })
    });
    let staged = variable_edits(&changes.collect::<Vec<_>>(), &SystemFiles(system))?;
    Ok(staged.into_iter().map(ApplyStep::from).collect())
}

/// The steps of a plan's kernel parameters alone: what the next boot passes, and nothing that makes it last otherwise.
///
/// # Errors
/// If the boot loader is not known, or a file of it cannot be read or not be changed.
pub fn parameter_steps(plan: &Plan, system: &dyn System) -> Result<Vec<ApplyStep>, StepsError> {
    Ok(parameters(&plan.changes, system)?)
}

/// The steps of kernel parameters: each is for all of them.
fn parameters(changes: &[Change], system: &dyn System) -> Result<Vec<ApplyStep>, BootError> {
    let (mut wanted, mut settings) = (Vec::new(), Vec::new());
    for change in changes {
        if let Setting::Parameter { name } = &change.setting {
            wanted.push(Parameter { name: name.clone(), value: change.then.clone() });
            settings.push(change.setting.to_string());
        }
    }
    let staged = edits(&wanted, &SystemFiles(system))?;
    Ok(staged
        .into_iter()
        .map(|edit| ApplyStep { settings: settings.clone(), ..ApplyStep::from(edit) })
        .collect())
}

/// The steps of what counts at once: what an apply begins with, and what is made again at each boot.
///
/// # Errors
/// If a change cannot be made.
pub fn runtime_steps(plan: &Plan, system: &dyn System) -> Result<Vec<ApplyStep>, StepsError> {
    let mut steps = Vec::new();
    let mut fair = fair_server::Pairs::of(&plan.changes);
    for change in &plan.changes {
        match &change.setting {
            Setting::Tunable { path } if fair_server::is_one(path) => steps.extend(fair.steps(path, system)),
            Setting::Tunable { path } => steps.push(value(Target::Tunable { path: path.clone() }, change)?),
            Setting::ThreadPolicy { thread } => {
                steps.push(value(Target::ThreadPolicy { thread: thread.clone() }, change)?);
            }
            Setting::ThreadCpus { thread } => {
                steps.push(value(Target::ThreadCpus { thread: thread.clone() }, change)?);
            }
            Setting::UnitActive { unit } => {
                steps.push(value(Target::UnitActive { unit: unit.clone() }, change)?)
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

/// One target that gets the change's value.
fn value(target: Target, change: &Change) -> Result<ApplyStep, StepsError> {
    let then = change.then.clone().ok_or_else(|| refused(change, "it needs a value"))?;
    Ok(step(target, TargetState::Value(then), change))
}
