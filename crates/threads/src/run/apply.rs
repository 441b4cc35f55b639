//! Makes the calling thread what is asked for, and becomes the program.

use super::change::ThreadChange;
use super::cpus;
use super::error::RunError;
use super::program::Program;
use super::refusal::Refusal;
use super::request::RunRequest;
use super::starvation;
use std::ffi::OsString;
use whylate_base::Tid;

/// Becomes the program, with what is asked for. `notify` is told what the thread became, read back from the kernel.
///
/// Returns only if it failed; then this process must end, as some of the changes may have been made to it.
pub fn start(request: &RunRequest, command: &[OsString], notify: &mut dyn FnMut(&str)) -> RunError {
    match prepare(request, command, notify) {
        Ok(program) => program.exec(),
        Err(error) => error,
    }
}

fn prepare(
    request: &RunRequest,
    command: &[OsString],
    notify: &mut dyn FnMut(&str),
) -> Result<Program, RunError> {
    let program = Program::find(command)?;
    starvation::look(request)?;
    if let Some(cpus) = &request.cpus {
        let change = || ThreadChange::Cpus(cpus.clone());
        let refused = cpus::refuse(cpus).map_err(|error| Refusal::of_change(&change(), &error, Tid(0)))?;
        refused.map_or(Ok(()), |refusal| Err(Box::new(refusal)))?;
    }
    for change in ThreadChange::all(request) {
        let now = change.make().map_err(|error| Refusal::of_change(&change, &error, Tid(0)))?;
        notify(&now);
    }
    Ok(program)
}
