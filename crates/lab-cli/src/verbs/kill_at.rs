//! `whylate-lab kill-at`: kills the program under test before one of its changes, from outside, with ptrace(2).

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};

/// Runs the program; its exit code, or 128 + signal.
pub(crate) fn run(at: u64, command: &[OsString]) -> Result<ExitCode> {
    let Some((program, arguments)) = command.split_first() else { bail!("name the PROGRAM to run") };
    let status = whylate_sys::kill_at_change(Command::new(program).args(arguments), at)
        .with_context(|| format!("cannot run and trace {}", program.display()))?;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}
