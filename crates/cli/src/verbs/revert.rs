//! The timer of `whylate apply --revert-after`: systemd's where that runs, else a process of our own.

use crate::output::say;
use anyhow::{Context, Result};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use whylate_base::Ns;
use whylate_tuning::{LiveSystem, System};

fn unit(id: u64) -> String {
    format!("whylate-revert-{id}")
}

/// Starts it. It waits for the lock when its time has come, so it may start before the first step.
pub(crate) fn start(system: &LiveSystem, root: &Path, id: u64, after: Ns) -> Result<()> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let seconds = after.0.unsigned_abs().div_ceil(1_000_000_000).max(1);
    let number = id.to_string();
    if system.is_here() && Path::new("/run/systemd/system").is_dir() && system.has_command("systemd-run") {
        let words = [
            "systemd-run".to_owned(),
            "--collect".to_owned(),
            "--quiet".to_owned(),
            format!("--unit={}", unit(id)),
            format!("--on-active={seconds}s"),
            "--timer-property=AccuracySec=1s".to_owned(),
            program.display().to_string(),
            "rollback".to_owned(),
            "--unconfirmed".to_owned(),
            number,
        ];
        say!("running {} ...", words.join(" "));
        return Ok(system.run(&words)?);
    }
    // A session of its own: it outlives the terminal that may be cut off.
    let mut command = Command::new("setsid");
    command.arg(program).args([
        "rollback",
        "--unconfirmed",
        &number,
        "--after",
        &format!("{seconds}s"),
        "--root",
    ]);
    command.arg(root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().context("cannot start the process that undoes the apply (setsid)")?;
    Ok(())
}

/// Stops systemd's; a process of ours notices it. Either finds that the apply was confirmed.
pub(crate) fn cancel(system: &LiveSystem, id: u64) {
    if system.is_here() && Path::new("/run/systemd/system").is_dir() {
        let words = ["systemctl".to_owned(), "stop".to_owned(), format!("{}.timer", unit(id))];
        if let Err(error) = system.run(&words) {
            say!("note: {error}; the timer does nothing when it expires");
        }
    }
}
