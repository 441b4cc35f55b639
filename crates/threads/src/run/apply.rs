//! Makes the calling thread what is asked for; what follows is the execution of the program.

use super::change::ThreadChange;
use super::cpus;
use super::error::RunError;
use super::program::Program;
use super::refusal::Refusal;
use super::request::RunRequest;
use super::starvation;
use std::ffi::OsString;
use whylate_base::Tid;

const OWN: Tid = Tid(0);

/// Finds the program, and makes every change; `notify` gets what this thread became.
pub(super) fn prepare(
    request: &RunRequest,
    command: &[OsString],
    notify: &mut dyn FnMut(&str),
) -> Result<Program, RunError> {
    let program = Program::find(command)?.of_user(request.user.as_deref())?;
    Refusal::of_memory(request).map_or(Ok(()), Err)?;
    starvation::look(request, OWN)?;
    if let Some(cpus) = &request.cpus {
        let change = || ThreadChange::Cpus(cpus.clone());
        let refused = cpus::refuse(cpus).map_err(|error| Refusal::of_change(&change(), &error, OWN))?;
        refused.map_or(Ok(()), |refusal| Err(Box::new(refusal)))?;
    }
    for change in ThreadChange::all(request) {
        let now = change.make(OWN).map_err(|error| Refusal::of_change(&change, &error, OWN))?;
        notify(&now);
    }
    Ok(program)
}
