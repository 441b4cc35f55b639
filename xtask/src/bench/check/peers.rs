//! The other checkers: rtcqs, in a Python environment of its own, and TuneD, where it runs already.

use crate::tools;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Another checker.
pub(super) struct Peer {
    pub(super) name: String,
    program: PathBuf,
    arguments: Vec<&'static str>,
}

impl Peer {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        command
    }

    /// How many items it called fine or not, and whether it came to its end.
    pub(super) fn said(&self, output: &Output) -> String {
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let count = |word: &str| text.matches(word).count();
        let end = match errors.lines().last() {
            Some(last) if errors.contains("Traceback") => format!(", then ended with {last}"),
            _ => String::new(),
        };
        match text.contains("WARNING") || text.contains("OK") {
            true => format!("{} OK, {} WARNING{end}", count("OK\u{1b}"), count("WARNING\u{1b}")),
            false => text.lines().last().unwrap_or_default().to_owned() + &end,
        }
    }
}

/// rtcqs from the Python package index, installed below `directory` and nowhere else.
pub(super) fn rtcqs(directory: &Path) -> Result<Peer> {
    let environment = directory.join("rtcqs");
    let program = environment.join("bin/rtcqs");
    if !program.exists() {
        let python = Command::new("python3").args(["-m", "venv"]).arg(&environment).status();
        if !python.is_ok_and(|status| status.success()) {
            bail!("rtcqs: python3 -m venv {} failed", environment.display());
        }
        let installed = Command::new(environment.join("bin/pip"))
            .args(["install", "--quiet", "rtcqs"])
            .status()
            .context("rtcqs: pip could not be started")?;
        if !installed.success() {
            bail!("rtcqs: pip install failed: {installed}");
        }
    }
    Ok(Peer { name: "rtcqs".to_owned(), program, arguments: Vec::new() })
}

/// TuneD verifies the profile that is active, by its daemon. Neither is started here: a profile that becomes active
/// changes the machine.
pub(super) fn tuned() -> Result<Peer> {
    if !tools::found("tuned-adm") {
        bail!("TuneD is not installed");
    }
    let active =
        Command::new("tuned-adm").arg("active").output().context("tuned-adm could not be started")?;
    let said =
        String::from_utf8_lossy(&active.stdout).into_owned() + &String::from_utf8_lossy(&active.stderr);
    if !active.status.success() || said.contains("No current active profile") || said.contains("Cannot talk")
    {
        bail!("TuneD verifies only the profile that is active, and needs its daemon: {}", said.trim());
    }
    Ok(Peer {
        name: "tuned-adm verify".to_owned(),
        program: PathBuf::from("tuned-adm"),
        arguments: vec!["verify", "--ignore-missing"],
    })
}
