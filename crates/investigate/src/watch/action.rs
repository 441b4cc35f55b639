//! The user's command for a late activation: one at a time, not too often, and not for too long.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::late::LateActivation;

/// A command that runs longer is ended.
const LONGEST: Duration = Duration::from_secs(10);
/// From its start it is this long at least to the next.
const PACE: Duration = Duration::from_secs(10);
/// After SIGTERM it has this long.
const GRACE: Duration = Duration::from_secs(1);
/// What a pipe takes without a reader (`pipe(7)`).
const MOST_BYTES: usize = 64 << 10;

/// What is run for a late activation.
#[derive(Clone)]
pub struct OnLate {
    /// A command for `/bin/sh -c`.
    pub command: String,
    /// The text on its standard input.
    pub render: fn(&LateActivation) -> String,
}

impl fmt::Debug for OnLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnLate").field("command", &self.command).finish_non_exhaustive()
    }
}

/// Runs the command.
#[derive(Debug, Default)]
pub(super) struct ActionRunner {
    running: Option<(Child, Instant)>,
    started: Option<Instant>,
    terminated: bool,
    /// Late activations for which it did not run, because it had run just before.
    skipped: u64,
    /// What went wrong first.
    failure: Option<String>,
}

impl ActionRunner {
    /// Runs the command, unless it runs or has run just now.
    pub(super) fn run(&mut self, action: &OnLate, late: &LateActivation) {
        self.look();
        if self.running.is_some() || self.started.is_some_and(|started| started.elapsed() < PACE) {
            self.skipped += 1;
            return;
        }
        self.started = Some(Instant::now());
        match start(action, late) {
            Ok(child) => {
                self.running = Some((child, Instant::now()));
                self.terminated = false;
            }
            Err(error) => self.fail(format!("--on-late could not be started: {error}")),
        }
    }

    /// Ends a command that takes too long.
    pub(super) fn look(&mut self) {
        let Some((child, since)) = &mut self.running else { return };
        match child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => {
                let terminated = self.terminated;
                self.running = None;
                if !status.success() && !terminated {
                    self.fail(format!("--on-late ended with {status}"));
                }
                return;
            }
            Err(error) => {
                self.running = None;
                self.fail(format!("--on-late cannot be waited for: {error}"));
                return;
            }
        }
        let elapsed = since.elapsed();
        let signal = match () {
            () if elapsed >= LONGEST + GRACE => Signal::KILL,
            () if elapsed >= LONGEST && !self.terminated => Signal::TERM,
            () => return,
        };
        // It is not reaped yet: the id is still its own.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
        if !self.terminated {
            self.terminated = true;
            self.fail(format!("--on-late ran for more than {} s and was ended", LONGEST.as_secs()));
        }
    }

    /// Gives a running command the rest of its time, then ends it.
    pub(super) fn finish(&mut self) {
        while self.running.is_some() {
            self.look();
            if self.running.is_some() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// What there is to report, in sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let skipped = (self.skipped > 0).then(|| {
            format!(
                "--on-late was not run for {} late activations: it runs once in {} s at most",
                self.skipped,
                PACE.as_secs()
            )
        });
        self.failure.clone().into_iter().chain(skipped).collect()
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }
}

fn start(action: &OnLate, late: &LateActivation) -> io::Result<Child> {
    let verdict = &late.activation.verdict;
    let mut child = Command::new("/bin/sh")
        .arg("-c")
        .arg(&action.command)
        .env("WHYLATE_THREAD", late.activation.comm.as_str())
        .env("WHYLATE_CAUSE", verdict.cause.code())
        .env("WHYLATE_CULPRIT", late.culprit.as_deref().unwrap_or_default())
        .env("WHYLATE_WINDOW", late.window.as_deref().unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()?;
    let mut text = (action.render)(late);
    while text.len() > MOST_BYTES {
        text.pop();
    }
    if let Some(mut input) = child.stdin.take() {
        // A command that reads nothing has ended, or will.
        let _ = input.write_all(text.as_bytes());
    }
    Ok(child)
}
