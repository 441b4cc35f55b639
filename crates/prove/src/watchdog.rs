//! A second process, which rolls a change back where the first one is killed while it measures.

use crate::error::ProveError;
use crate::tuned_machine;
use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whylate_sys::BlockedSignals;
use whylate_tuning::{JournalStore, LiveSystem};

/// How long its end is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The side of the process that measures: while it lives, the pipe to the other one is open.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Starts it, in a session of its own: what a terminal does to this process does not reach it.
    pub(crate) fn start(command_line: &[OsString]) -> Result<Watchdog, ProveError> {
        let failed = |why: String| ProveError::Watchdog(why);
        let (program, arguments) =
            command_line.split_first().ok_or_else(|| failed("it has no command".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        whylate_sys::new_session(&mut command);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        // It writes a byte when the signals that end this process cannot end it any more.
        let mut ready = [0];
        let read = child.stdout.take().map(|mut output| output.read_exact(&mut ready));
        match read {
            Some(Ok(())) => Ok(Watchdog(child)),
            _ => {
                let ended = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(failed(format!("it ended at once ({ended})")))
            }
        }
    }

    /// Ends it, before the right to change the machine is given up: nothing is left for it to do.
    pub(crate) fn stop(mut self) {
        let _ = self.0.kill();
        let end = Instant::now() + PATIENCE;
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The other side: waits until standard input ends, which is when the process that measures does, and rolls back what that has
/// left. Returns a sentence for each change.
///
/// # Errors
/// A journal cannot be read or locked, or the signals cannot be blocked.
pub fn restore_at_end(system: &LiveSystem, store: &JournalStore) -> Result<Vec<String>, ProveError> {
    use rustix::process::Signal;
    let blocked = [Signal::TERM, Signal::INT, Signal::HUP].map(|signal| signal.as_raw());
    let _signals =
        BlockedSignals::block(&blocked).map_err(|error| ProveError::Watchdog(error.to_string()))?;
    // What restores a machine must not be the first to go where memory is short.
    let _ = std::fs::write("/proc/self/oom_score_adj", "-1000");
    write_ready().map_err(|error| ProveError::Watchdog(error.to_string()))?;
    let mut input = io::stdin().lock();
    let mut byte = [0];
    while !matches!(input.read(&mut byte), Ok(0)) {}
    let lock = store.wait_for_lock("whylate prove (restoring)")?;
    let mut sentences = Vec::new();
    for id in tuned_machine::left_over(store)? {
        let undone = tuned_machine::undo_left_over(system, store, &lock, id);
        sentences.push(match undone {
            Ok(()) => format!("its change, apply {id}, is rolled back"),
            Err(error) => error.to_string(),
        });
    }
    Ok(sentences)
}

fn write_ready() -> io::Result<()> {
    use std::io::Write;
    let mut output = io::stdout().lock();
    output.write_all(b"\n")?;
    output.flush()
}
