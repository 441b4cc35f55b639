//! The program to examine.

use super::error::DoctorError;
use std::ffi::OsString;
use std::fs;
use whylate_base::Tid;
use whylate_host::status_value;

/// A program to examine: a command to start, or a process that runs already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorTarget(Program);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    Command(Vec<OsString>),
    Process(Tid),
}

impl DoctorTarget {
    /// A program with its arguments, to start.
    #[must_use]
    pub fn of_command(command: Vec<OsString>) -> DoctorTarget {
        DoctorTarget(Program::Command(command))
    }

    /// A process by its id, or by that of one of its threads.
    ///
    /// # Errors
    /// [`DoctorError::NoSuchProcess`] and [`DoctorError::KernelThread`].
    pub fn of_process(pid: Tid) -> Result<DoctorTarget, DoctorError> {
        let gone = DoctorError::NoSuchProcess { pid };
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return Err(gone) };
        if status_value(&status, "VmSize").is_none() {
            let is_zombie = status_value(&status, "State").is_some_and(|state| state.starts_with('Z'));
            return Err(if is_zombie { gone } else { DoctorError::KernelThread { pid } });
        }
        let leader = status_value(&status, "Tgid").and_then(|leader| leader.parse().ok()).map(Tid);
        Ok(DoctorTarget(Program::Process(leader.unwrap_or(pid))))
    }

    /// The command to start.
    pub(super) fn command(&self) -> Option<&[OsString]> {
        match &self.0 {
            Program::Command(command) => Some(command),
            Program::Process(_) => None,
        }
    }

    /// The processes that run already.
    pub(super) fn processes(&self) -> &[Tid] {
        match &self.0 {
            Program::Command(_) => &[],
            Program::Process(pid) => std::slice::from_ref(pid),
        }
    }
}
