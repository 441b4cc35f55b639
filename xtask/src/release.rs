//! The release binaries, built and found.

use crate::cross::Profile;
use crate::root;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Builds `whylate` as users get it, and `more` packages, whose programs lie beside it; returns where it is.
///
/// # Errors
/// If it does not build.
pub(crate) fn whylate(root: &Path, more: &[&str]) -> Result<PathBuf> {
    built(root, Profile::Release, more)
}

/// As [`whylate`], in any profile.
///
/// # Errors
/// If it does not build.
pub(crate) fn built(root: &Path, profile: Profile, more: &[&str]) -> Result<PathBuf> {
    let packages = ["whylate"].iter().chain(more).flat_map(|package| ["--package", package]);
    let output = root::cargo(root)
        .args(profile.arguments())
        .args(["--locked", "--message-format", "json-render-diagnostics"])
        .args(packages)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    if !output.status.success() {
        bail!("the programs do not build");
    }
    let messages = String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")?;
    executable(&messages).context("cargo did not name the binary `whylate`")
}

/// The path of the binary in cargo's messages, one JSON object a line.
fn executable(messages: &str) -> Option<PathBuf> {
    let objects = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut named = objects.filter(|object| object["target"]["name"] == "whylate");
    named.find_map(|object| object["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::executable;
    use std::path::Path;

    #[test]
    fn the_binary_is_the_one_cargo_names() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"other\"},\"executable\":\"/x/other\"}\n\
                        not json\n\
                        {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"whylate\"},\"executable\":\"/x/whylate\"}\n";
        assert_eq!(executable(messages).as_deref(), Some(Path::new("/x/whylate")));
        assert_eq!(executable("{}\n"), None);
    }
}
