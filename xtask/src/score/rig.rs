//! The test rig: built, and called.

use crate::cross::Profile;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What came of a few runs, for `cargo xtask test`.
pub(crate) enum Quick {
    /// It ran, and this is how it went.
    Ran {
        /// Right often enough.
        good: bool,
        /// In one line.
        words: String,
    },
    /// It cannot run on this machine.
    Skipped(String),
}

/// The names of the kernels in the cache, for this machine's architecture or another.
fn cached(whylate: &Path, arch: Option<&str>) -> Result<Vec<String>> {
    let arch = arch.iter().flat_map(|arch| ["--arch", arch]);
    let output = Command::new(whylate).args(["lab", "kernels", "--json"]).args(arch).output();
    let output = output.with_context(|| format!("cannot run {}", whylate.display()))?;
    let list: Value = serde_json::from_slice(&output.stdout).context("`lab kernels --json` is not JSON")?;
    let kernels = list["kernels"].as_array().context("`lab kernels --json` has no `kernels`")?;
    let cached = kernels.iter().filter(|kernel| kernel["cached"] == true);
    Ok(cached.filter_map(|kernel| kernel["name"].as_str()).map(str::to_owned).collect())
}

/// The names of the kernels in the cache, after those of `wanted` that are missing were asked for. Without a network, or apt,
/// what is cached must do.
pub(super) fn fetched(whylate: &Path, arch: Option<&str>, wanted: &[&str]) -> Result<Vec<String>> {
    let names = cached(whylate, arch)?;
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|kernel| !names.iter().any(|name| name == kernel)).collect();
    if missing.is_empty() {
        return Ok(names);
    }
    let arguments = arch.iter().flat_map(|arch| ["--arch", arch]);
    let fetch =
        Command::new(whylate).args(["lab", "kernels"]).args(arguments).arg("--fetch").args(&missing).status();
    fetch.with_context(|| format!("cannot run {}", whylate.display()))?;
    cached(whylate, arch)
}

/// A verb of `whylate-lab`, beside `whylate`: its lines go to standard error, its results come back.
pub(super) fn rig(whylate: &Path, verb: &str, arguments: &[String]) -> Result<Value> {
    let rig = whylate.with_file_name("whylate-lab");
    let output = Command::new(&rig)
        .args([verb, "--json"])
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", rig.display()))?;
    if output.stdout.is_empty() {
        bail!("the lab ended with {} and no results: see above", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the output of `whylate-lab --json` is not JSON")
}

/// Builds all three programs; `whylate-lab` looks for the other two beside itself.
pub(super) fn build(root: &Path) -> Result<PathBuf> {
    crate::release::whylate(root, &BESIDE)
}

/// As [`build`], in the profile that is soon built: smoke tests look at answers, not at speed, and the release's optimisations
/// take longer than their guests.
pub(super) fn build_for_smoke(root: &Path) -> Result<PathBuf> {
    crate::release::built(root, Profile::Guest, &BESIDE)
}

/// The programs beside `whylate`.
const BESIDE: [&str; 2] = ["whylate-lab-cli", "whylate-inject"];
