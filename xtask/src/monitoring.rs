//! `whylate watch --serve` with a real Prometheus: packaging/grafana/test_prometheus.py in an environment of its own.

use crate::environment::Environment;
use crate::outcome::{StepOutcome, outcome};
use crate::skips::Machine;
use crate::{root, tools};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Stdio;

/// Runs the tests; `false` if one failed.
///
/// # Errors
/// They cannot run here.
pub(crate) fn run(root: &Path) -> Result<bool> {
    match step(root) {
        StepOutcome::Passed => Ok(true),
        StepOutcome::Failed(why) => {
            eprintln!("xtask: monitoring: {why}");
            Ok(false)
        }
        StepOutcome::Skipped(why) => bail!("the tests of monitoring cannot run: {why}"),
    }
}

/// The step of `cargo xtask test`.
pub(crate) fn step(root: &Path) -> StepOutcome {
    if !Machine::this(true).tracefs {
        return StepOutcome::Skipped("no tracefs, or not root: whylate watch cannot record".to_owned());
    }
    if !tools::provided("prometheus", "prometheus") {
        return StepOutcome::Skipped("no prometheus; apt-get install prometheus, as root".to_owned());
    }
    match built_and_tested(root) {
        Ok(()) => StepOutcome::Passed,
        Err(outcome) => outcome,
    }
}

fn built_and_tested(root: &Path) -> Result<(), StepOutcome> {
    let passed = |outcome| if outcome == StepOutcome::Passed { Ok(()) } else { Err(outcome) };
    let own = root.join("packaging/grafana");
    let environment =
        Environment::make(&root::target(root).join("monitoring")).map_err(StepOutcome::Skipped)?;
    environment.install(&own.join("requirements.txt")).map_err(StepOutcome::Skipped)?;
    passed(outcome(root::cargo(root).args(["build", "--quiet", "--locked", "--package", "whylate"])))?;
    let mut tests = environment.program("pytest");
    tests.current_dir(root).args(["-q", "-p", "no:cacheprovider"]).arg(own).stdin(Stdio::null());
    tests.env("WHYLATE", root::target(root).join("debug/whylate")).env("WHYLATE_ROOT", root);
    passed(outcome(&mut tests))
}
