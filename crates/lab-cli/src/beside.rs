//! The programs that the rig runs: they are in the directory of this one.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The program given with `option`, otherwise the one called `name` in the directory of this one.
///
/// # Errors
/// When it is missing, or a guest cannot run it.
pub(crate) fn program(given: Option<&Path>, name: &str, option: &str) -> Result<PathBuf> {
    let path = program_here(given, name, option)?;
    whylate_lab::check_program(&path)?;
    Ok(path)
}

/// The same, for this machine.
///
/// # Errors
/// When it is missing.
pub(crate) fn program_here(given: Option<&Path>, name: &str, option: &str) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => std::env::current_exe().context("cannot find this program")?.with_file_name(name),
    };
    if !path.is_file() {
        bail!(
            "{} is missing: build it (cargo build --release -p {name}), or name it with {option}",
            path.display()
        );
    }
    Ok(path)
}
