//! The instant that every artefact carries instead of the time of its making (reproducible-builds.org, SOURCE_DATE_EPOCH).

use crate::outcome::output_of;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Seconds since 1970, UTC.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuildInstant(pub(super) u64);

impl BuildInstant {
    /// `SOURCE_DATE_EPOCH`; without it the time of the last commit.
    pub(super) fn of(root: &Path) -> Result<BuildInstant> {
        let text = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(text) => text,
            Err(_) => {
                let log = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root).output();
                let log = log.context("git cannot be started: set SOURCE_DATE_EPOCH")?;
                String::from_utf8_lossy(&log.stdout).into_owned()
            }
        };
        let seconds = text.trim().parse().with_context(|| {
            format!("SOURCE_DATE_EPOCH, or the time of the last commit, is not a number: `{}`", text.trim())
        })?;
        Ok(BuildInstant(seconds))
    }

    /// As `2026-11-24T10:00:00Z`.
    pub(super) fn rfc3339(self) -> Result<String> {
        let at = format!("@{}", self.0);
        let text = output_of(Command::new("date").args(["-u", "-d", &at, "+%Y-%m-%dT%H:%M:%SZ"]))?;
        Ok(String::from_utf8_lossy(&text).trim().to_owned())
    }
}
