//! SHA-256 sums, by the program that users check them with.

use super::facts::ReleaseFacts;
use super::work::write;
use crate::outcome::output_of;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The file's name.
pub(super) const NAME: &str = "SHA256SUMS";

/// The sums of all artefacts, for `sha256sum -c`.
pub(super) fn make(facts: &ReleaseFacts) -> Result<()> {
    let listed =
        fs::read_dir(&facts.output).with_context(|| format!("cannot list {}", facts.output.display()))?;
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name != NAME).collect();
    names.sort();
    let sums = output_of(Command::new("sha256sum").arg("--").args(&names).current_dir(&facts.output))?;
    write(&facts.output.join(NAME), &sums)
}

/// The sum of one file, in hexadecimal.
pub(super) fn sha256(path: &Path) -> Result<String> {
    let line = output_of(Command::new("sha256sum").arg("--").arg(path))?;
    let line = String::from_utf8_lossy(&line);
    let sum = line.split_whitespace().next().unwrap_or_default().trim_start_matches('\\');
    Ok(sum.to_owned())
}
