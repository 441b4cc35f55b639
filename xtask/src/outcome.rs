//! How programs end that xtask runs.

use anyhow::{Context, Result, bail};
use std::process::Command;

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Runs a command to its end.
pub(crate) fn outcome(command: &mut Command) -> StepOutcome {
    match command.status() {
        Ok(status) if status.success() => StepOutcome::Passed,
        Ok(status) => StepOutcome::Failed(status.to_string()),
        Err(error) => StepOutcome::Failed(format!(
            "{} cannot be started: {error}",
            command.get_program().to_string_lossy()
        )),
    }
}

/// The standard output of a program that has to succeed.
pub(crate) fn output_of(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} cannot be started"))?;
    if !output.status.success() {
        bail!("{name}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_fails_by_its_status_and_by_not_being_there() {
        assert_eq!(outcome(&mut Command::new("true")), StepOutcome::Passed);
        assert!(matches!(outcome(&mut Command::new("false")), StepOutcome::Failed(_)));
        assert!(matches!(outcome(&mut Command::new("no-such-program-anywhere")), StepOutcome::Failed(_)));
    }
}
