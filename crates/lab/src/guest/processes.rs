//! The processes of an init: those it started, and the orphans it inherits.

use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use std::collections::HashMap;

/// The exit codes of processes, by id.
#[derive(Debug, Default)]
pub(super) struct Processes {
    ended: HashMap<i32, i32>,
}

impl Processes {
    /// Waits for one process, reaping all others that end meanwhile. Its exit code, or 128 + signal.
    ///
    /// # Errors
    /// When there is no such process (any more).
    pub(super) fn wait_for(&mut self, id: i32) -> Result<i32, String> {
        loop {
            if let Some(code) = self.ended.remove(&id) {
                return Ok(code);
            }
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) => self.note(pid, status),
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(format!("waitpid: {errno}")),
            }
        }
    }

    fn note(&mut self, pid: Pid, status: WaitStatus) {
        let signalled = status.terminating_signal().map(|signal| 128 + signal);
        if let Some(code) = status.exit_status().or(signalled) {
            self.ended.insert(pid.as_raw_nonzero().get(), code);
        }
    }
}
