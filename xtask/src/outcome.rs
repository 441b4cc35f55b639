//! How a step of `cargo xtask test` ends.

use std::process::Command;

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Runs a command to its end.
pub(crate) fn outcome(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => {
            Outcome::Failed(format!("{} cannot be started: {error}", command.get_program().to_string_lossy()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_fails_by_its_status_and_by_not_being_there() {
        assert_eq!(outcome(&mut Command::new("true")), Outcome::Passed);
        assert!(matches!(outcome(&mut Command::new("false")), Outcome::Failed(_)));
        assert!(matches!(outcome(&mut Command::new("no-such-program-anywhere")), Outcome::Failed(_)));
    }
}
