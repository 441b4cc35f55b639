//! The programs that the rig runs: they are in the directory of this one.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use whylate_lab::Arch;

/// The program for guests of `arch` that is given with `option`, otherwise the one called `name` beside this one: see
/// [`Arch::places_of`].
///
/// # Errors
/// When it is missing, or a guest cannot run it.
pub(crate) fn program(given: Option<&Path>, name: &str, option: &str, arch: Arch) -> Result<PathBuf> {
    let path = match given {
        None if arch != Arch::native() => {
            let own = std::env::current_exe().context("cannot find this program")?;
            let places = arch.places_of(&own, name);
            let Some(found) = places.iter().find(|place| place.is_file()) else {
                let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
                bail!(
                    "no {name} for {arch}, neither {}: build it (cargo xtask cross {arch} --release), or name it with {option}",
                    places.join(" nor ")
                );
            };
            found.clone()
        }
        given => program_here(given, name, option)?,
    };
    whylate_lab::check_program(&path, arch)?;
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
