//! COMMAND: started once tracing is on, so that its first instruction is recorded.

use super::error::RecordError;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};
use whylate_base::Tid;
use whylate_sys::UserAccount;

/// How long a command may take to end after a signal to end.
const GRACE: Duration = Duration::from_secs(2);

/// The user that a command is to run as.
///
/// # Errors
/// [`RecordError::User`]: there is none, or this process must not start programs as that one.
pub(super) fn user(name: &str) -> Result<UserAccount, RecordError> {
    let failed = |why: String| RecordError::User { user: name.to_owned(), why };
    let user = UserAccount::find(name).map_err(|error| failed(error.to_string()))?;
    let user = user.ok_or_else(|| failed("there is no such user".to_owned()))?;
    match rustix::process::geteuid().is_root() {
        true => Ok(user),
        false => Err(failed("only root can start a program as a user".to_owned())),
    }
}

/// The command while it runs.
pub(crate) struct Workload {
    child: Child,
    program: String,
}

impl Workload {
    /// Starts `command`, as another user where one is given, from a thread that `follow` was called for: what is followed
    /// by inheritance then follows the command and whatever it starts. `to_stderr`: its standard output goes to standard error.
    pub(crate) fn start(
        command: &[OsString],
        user: Option<&UserAccount>,
        to_stderr: bool,
        follow: impl FnOnce(Tid) -> Result<(), RecordError> + Send,
    ) -> Result<Workload, RecordError> {
        let program =
            command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        let failed = |why: String| RecordError::Command { program: program.clone(), why };
        let (name, arguments) =
            command.split_first().ok_or_else(|| failed("no program was named".to_owned()))?;
        // A child inherits its place on the list of followed threads, and the sampling, from the
        // thread that starts it. A thread that does nothing else leaves that list again by ending.
        let spawn = || -> Result<Child, RecordError> {
            follow(Tid(rustix::thread::gettid().as_raw_nonzero().get()))?;
            let mut command = Command::new(name);
            if let Some(user) = user {
                whylate_sys::run_as(&mut command, user);
            }
            if to_stderr {
                let stderr = io::stderr().as_fd().try_clone_to_owned();
                command.stdout(stderr.map_err(|e| failed(format!("no second standard error: {e}")))?);
            }
            command.args(arguments).spawn().map_err(|e| failed(explain(&e)))
        };
        let spawned = thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, spawn) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(e) => Err(failed(format!("no thread to start it from: {e}"))),
        });
        Ok(Workload { child: spawned?, program })
    }

    /// Its process; it is not reaped before [`finish`](Self::finish) unless it has ended.
    pub(crate) fn pid(&self) -> Option<Tid> {
        self.child.id().try_into().ok().map(Tid)
    }

    /// True once it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Tells it to end, if it has not.
    pub(crate) fn terminate(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (false, Some(pid)) = (self.has_ended(), pid) {
            // Not reaped yet: even if it ends just now, the PID is still its own.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Waits for its end and returns how it ended; the error is a sentence for the user. Where it got a signal from
    /// elsewhere, it is given time before it gets another.
    pub(crate) fn finish(mut self) -> Result<ExitStatus, String> {
        if let Some(status) = self.wait() {
            return Ok(status);
        }
        self.terminate();
        let id = self.child.id();
        self.wait().ok_or_else(|| format!("{} (process {id}) was sent SIGTERM and still runs", self.program))
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if started.elapsed() < GRACE => thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }
}

/// Where the recording failed, nothing else would end the command.
impl Drop for Workload {
    fn drop(&mut self) {
        self.terminate();
    }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program (nor, for a script, its interpreter)".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "it is not an executable file, or this user may not run it".to_owned()
        }
        _ => error.to_string(),
    }
}
