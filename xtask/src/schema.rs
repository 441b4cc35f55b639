//! `cargo xtask schema`: writes the generated files that are checked in anew.
//!
//! The tests of `whylate-report` and `whylate-lab-cli` compare them with what the types generate; with `WHYLATE_BLESS=1` they write.

use crate::root;
use anyhow::{Context, Result};
use std::path::Path;

/// Regenerates; `false` if a test failed for another reason.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let status = root::cargo(root)
        .args(["test", "--package", "whylate-report", "--package", "whylate-lab-cli", "--locked"])
        .env("WHYLATE_BLESS", "1")
        .status()
        .context("cargo could not be started")?;
    Ok(status.success())
}
