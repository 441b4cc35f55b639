//! What a run of the engine works on.

use crate::{PlannedStep, System, TargetError, Timestamp};
use whylate_host::FsRoot;

/// What a run of the engine works on, and where it reports to.
pub struct RunContext<'a> {
    /// The machine.
    pub system: &'a dyn System,
    /// The clock.
    pub now: &'a dyn Fn() -> Timestamp,
    /// Asked between two steps: true stops there.
    pub stop: &'a dyn Fn() -> bool,
    /// Told of each step before it is made or undone.
    pub notify: &'a dyn Fn(&PlannedStep),
}

/// This boot of a machine (random(4)); `None`: not known.
pub fn boot_id(tree: &FsRoot) -> Option<String> {
    tree.value::<String>("/proc/sys/kernel/random/boot_id").value.ok()
}

/// Runs what is to be run after the target was changed.
pub(crate) fn notified(planned: &PlannedStep, system: &dyn System) -> Result<(), TargetError> {
    match planned.notify.as_ref().map(|command| system.run(command)) {
        // No program has to be notified.
        Some(Err(error)) if error.gone => Ok(()),
        Some(result) => result,
        None => Ok(()),
    }
}
