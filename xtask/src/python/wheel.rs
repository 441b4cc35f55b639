//! The wheel: where it is, and what builds it.

use crate::environment::Environment;
use crate::outcome::{StepOutcome, outcome};
use crate::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// A wheel without optimisations, and the tests that take seconds.
    Quick,
    /// The same wheel, and the notebooks.
    Notebook,
    /// A wheel as users get it, no tests.
    Wheel,
    /// A wheel for another machine, tried under qemu-user.
    ForeignWheel,
    /// A wheel as users get it, and all tests.
    Whole,
}

/// Where the environment, the wheel and the tests' results are.
pub(super) fn place(root: &Path) -> PathBuf {
    root::target(root).join("python")
}

pub(super) fn wheels(root: &Path, amount: Amount) -> PathBuf {
    place(root).join(if amount == Amount::ForeignWheel { "wheels-arm64" } else { "wheels" })
}

/// Builds the wheel, with what the other steps have built already.
pub(super) fn wheel(root: &Path, environment: &Environment, amount: Amount) -> Command {
    let wheels = wheels(root, amount);
    // The one of another version would be installed as well.
    let _ = fs::remove_dir_all(&wheels);
    let mut command = environment.program("maturin");
    command.args(["build", "--locked", "--manifest-path", "python/Cargo.toml"]).current_dir(root);
    command.arg("--out").arg(wheels).arg("--target-dir").arg(root::target(root));
    if matches!(amount, Amount::Wheel | Amount::ForeignWheel | Amount::Whole) {
        command.arg("--release");
    }
    command
}

pub(super) fn built(wheels: &Path) -> Result<Vec<PathBuf>, StepOutcome> {
    let failed = |error| StepOutcome::Failed(format!("{}: {error}", wheels.display()));
    let entries = fs::read_dir(wheels).map_err(failed)?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

pub(super) fn passed(mut command: impl std::borrow::BorrowMut<Command>) -> Result<(), StepOutcome> {
    match outcome(command.borrow_mut()) {
        StepOutcome::Passed => Ok(()),
        other => Err(other),
    }
}
