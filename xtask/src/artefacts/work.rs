//! Files that are written for artefacts.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// An empty directory.
pub(super) fn emptied(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// Writes a file, and the directories above it.
pub(in crate::artefacts) fn write(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    }
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}
