//! The automatic undo of `whylate apply --revert-after`: a process that waits, started before the first step.
//!
//! It runs this program's own image, whatever an upgrade does to its file meanwhile, and waits by a clock that no
//! program sets. Where systemd runs it is a service, which no end of a login reaches, and a timer follows it in case it
//! is killed; else it is a process in a session of its own.

use crate::output::message;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use whylate_tuning::{LiveSystem, System};

/// What the waiting process writes when it waits.
pub(crate) const READY: &str = "ready";
/// The running image. Of a process of its own it is found by that process's number (proc_pid_exe(5)).
const IMAGE: &str = "/proc/self/exe";
/// The timer comes when the service should be through.
const TIMER_AFTER: u64 = 10;

/// Starts what undoes an apply, and returns when that waits. It then waits for the lock, so it may start before the
/// first step.
pub(crate) fn start(system: &LiveSystem, root: &Path, id: u64, after: Duration) -> Result<()> {
    let seconds = after.as_nanos().div_ceil(1_000_000_000).max(1);
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    if runs_systemd(system) && system.has_command("systemd-run") {
        return by_systemd(system, id, seconds);
    }
    let child = spawn(Path::new(IMAGE), root, id, seconds)?;
    let process = child.id();
    await_ready(child)?;
    message!(
        "note: process {process} undoes this apply in {seconds} s unless it is confirmed; if that process is killed, or the \
         machine restarted, nothing undoes it, as systemd does not run here: then run `whylate rollback`"
    );
    Ok(())
}

fn runs_systemd(system: &LiveSystem) -> bool {
    system.is_here() && Path::new("/run/systemd/system").is_dir()
}

fn unit(id: u64) -> String {
    format!("whylate-revert-{id}")
}

/// A service that has started when `systemd-run` returns (`Type=notify`), and the timer.
fn by_systemd(system: &LiveSystem, id: u64, seconds: u64) -> Result<()> {
    // The path counts until the service has started, and this process waits for that.
    let image = format!("/proc/{}/exe", std::process::id());
    let rollback = |program: &str| [program, "rollback", "--unconfirmed", &id.to_string()].map(str::to_owned);
    let run = |options: &[String], command: &[String]| {
        let head = ["systemd-run", "--collect", "--quiet"].map(str::to_owned);
        let words = [&head, options, command].concat();
        message!("running {} ...", words.join(" "));
        system.run(&words)
    };
    let wait = ["--after".to_owned(), format!("{seconds}s")];
    let options = [
        format!("--unit={}", unit(id)),
        "--service-type=notify".to_owned(),
        "--property=OOMScoreAdjust=-1000".to_owned(),
        "--property=TimeoutStartSec=30s".to_owned(),
    ];
    run(&options, &[&rollback(&image)[..], &wait].concat())?;
    // Only for the case that the service is killed: a program that is not there any more is no reason to stop.
    if let Ok(program) = std::env::current_exe()
        && program.is_file()
    {
        let options = [
            format!("--unit={}-late", unit(id)),
            format!("--on-active={}s", seconds.saturating_add(TIMER_AFTER)),
            "--timer-property=AccuracySec=1s".to_owned(),
        ];
        if let Err(error) = run(&options, &rollback(&program.display().to_string())) {
            message!("note: {error}; the service undoes the apply all the same");
        }
    }
    Ok(())
}

/// A session of its own: it outlives the terminal that may be cut off.
fn spawn(program: &Path, root: &Path, id: u64, seconds: u64) -> Result<Child> {
    let mut command = Command::new(program);
    command.arg0("whylate").args(["rollback", "--unconfirmed", &id.to_string()]);
    command.args(["--after", &format!("{seconds}s"), "--root"]).arg(root);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    whylate_sys::new_session(&mut command);
    command.spawn().context("cannot start the process that undoes the apply; nothing was changed")
}

/// Waits until the process waits; what it writes instead is why it does not.
fn await_ready(mut child: Child) -> Result<()> {
    let mut written = Vec::new();
    for line in child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).lines()) {
        match line.context("cannot read from the process that undoes the apply")? {
            line if line == READY => return Ok(()),
            line => written.push(line),
        }
    }
    let ended = child.wait().context("cannot wait for the process that undoes the apply")?;
    bail!(
        "the process that undoes the apply ended at once ({ended}); nothing was changed: {}",
        written.join("; ")
    )
}

/// Stops systemd's; a process of ours notices it. Each finds that the apply was confirmed.
pub(crate) fn cancel(system: &LiveSystem, id: u64) {
    if runs_systemd(system) {
        let units = [format!("{}.service", unit(id)), format!("{}-late.timer", unit(id))];
        let words = [&["systemctl".to_owned(), "stop".to_owned()][..], &units].concat();
        if let Err(error) = system.run(&words) {
            message!("note: {error}; a timer that is left does nothing when it expires");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_does_not_wait_is_reported() {
        let root = Path::new("/nonexistent");
        let error = spawn(Path::new("/nonexistent/whylate"), root, 1, 1).expect_err("no such program");
        assert!(format!("{error:#}").contains("nothing was changed"), "{error:#}");
        let child = spawn(Path::new("/bin/false"), root, 1, 1).expect("a program");
        let error = await_ready(child).expect_err("it does not wait");
        assert!(format!("{error:#}").contains("ended at once (exit status: 1)"), "{error:#}");
    }
}
