//! A second process, which restores what the guard has lent where the guard is killed.

use super::error::GuardError;
use super::journal;
use super::own_thread;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whylate_base::CpuSet;
use whylate_sys::BlockedSignals;

/// How long its end is waited for; it has nothing to do then but to see that the pipe is closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// The guard's side: the process, and the pipe whose end it waits for.
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Starts it, in a session of its own: what a terminal or a shell does to the guard's does not reach it.
    pub(super) fn start(
        command_line: &[OsString],
        journal: &Path,
        cpus: Option<&CpuSet>,
    ) -> Result<Watchdog, GuardError> {
        let (program, arguments) = command_line
            .split_first()
            .ok_or_else(|| GuardError::Input("the watchdog has no command".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).arg(journal).args(cpus.map(ToString::to_string));
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        whylate_sys::new_session(&mut command);
        let child = command.spawn().map_err(|error| {
            GuardError::Failed(format!("cannot start the watchdog {}: {error}", program.display()))
        })?;
        Ok(Watchdog(child))
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Closes the pipe, and waits for the end.
    pub(super) fn stop(mut self) {
        drop(self.0.stdin.take());
        let end = Instant::now() + PATIENCE;
        while self.is_alive() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The watchdog's own side: waits until the guard has ended, and restores what the journal has. Returns a sentence for each
/// thread.
///
/// # Errors
/// Without the right to a real-time policy: it would starve with the threads that it is to restore.
pub fn watch(journal: &Path, cpus: Option<&CpuSet>) -> Result<Vec<String>, GuardError> {
    // A service manager that ends the whole group leaves it the time to restore.
    let blocked = [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP];
    let _signals = BlockedSignals::block(&blocked.map(|signal| signal.as_raw()))
        .map_err(|error| GuardError::Failed(error.to_string()))?;
    own_thread::prepare(cpus)?;
    let mut end = io::stdin().lock();
    let mut byte = [0];
    while !matches!(end.read(&mut byte), Ok(0)) {}
    Ok(journal::recover_file(journal))
}
