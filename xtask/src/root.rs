//! Where the repository is, and which cargo to call in it.

use anyhow::{Context, Result, anyhow};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root: the nearest directory at or above the current one that has `xtask/Cargo.toml`,
/// or else the one cargo started us from.
pub(crate) fn find() -> Result<PathBuf> {
    let here = env::current_dir().context("the current directory cannot be read")?;
    let from_cargo = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    here.ancestors()
        .chain(from_cargo.as_deref().and_then(Path::parent))
        .find(|directory| directory.join("xtask/Cargo.toml").is_file())
        .map(Path::to_path_buf)
        .ok_or_else(|| anyhow!("{} is not inside the repository: change into it", here.display()))
}

/// A call of the cargo that runs us, in the root.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Where cargo builds, which no clone contains.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Whether this is a CI run (`CI` set to something other than empty, `0` or `false`).
pub(crate) fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
