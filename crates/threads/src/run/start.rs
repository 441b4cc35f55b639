//! The start of a program: in this process, or as its child.

use super::apply;
use super::error::RunError;
use super::hold;
use super::request::RunRequest;
use std::ffi::OsString;

/// Starts the program with what is asked for. `notify` gets what it became, read back from the kernel.
///
/// Returns the program's exit code (128 + n for signal n) where something is held for it; otherwise this process becomes the
/// program.
///
/// # Errors
/// [`RunError`]: then it was not started, what is outside is as it was before, and this process must end, as some of the
/// changes may have been made to it.
pub fn start(
    request: &RunRequest,
    command: &[OsString],
    notify: &mut dyn FnMut(&str),
) -> Result<u8, RunError> {
    match request.needs_parent() {
        true => hold::hold(request, command, notify),
        false => Err(match apply::prepare(request, command, notify) {
            Ok(program) => program.exec(),
            Err(error) => error,
        }),
    }
}
