//! The state of a machine: everything that tuning may change, as plain values, so that two states can be compared.
//!
//! ```text
//!  files     what is in /etc, /boot, /usr/local ...: kind, mode, owner, content
//!  kernel    values of /proc/sys, /proc/irq, /sys and debugfs
//!  threads   policy, nice value and CPUs, by name
//!  units     systemd's units: whether they run, whether they are started at boot
//!  compare   the differences, and those that no setting causes (volatile)
//! ```
//!
//! It shares nothing with the code that plans and undoes changes, because it tests that code.

mod compare;
mod files;
mod kernel;
mod threads;
mod units;
mod values;
mod volatile;

pub use compare::{Comparison, ValueDifference, compare};
pub use values::Values;
pub use volatile::{VOLATILE, Volatile};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A machine's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineState {
    /// Values by name, in groups: `files`, `kernel`, `threads`, `units`.
    pub groups: BTreeMap<String, Values>,
}

/// The groups.
pub const GROUPS: [&str; 4] = ["files", "kernel", "threads", "units"];

/// The state of this machine.
pub fn take() -> MachineState {
    let root = Path::new("/");
    let groups = [files::all(root), kernel::all(root), threads::all(root), units::all()];
    MachineState { groups: GROUPS.into_iter().map(str::to_owned).zip(groups).collect() }
}

impl MachineState {
    /// A value.
    pub fn value(&self, group: &str, name: &str) -> Option<&str> {
        Some(self.groups.get(group)?.get(name)?.as_str())
    }
}
