//! The step `test`: all tests of the workspace, counted, with those that report that they could not run.

use crate::outcome::StepOutcome;
use crate::root;
use crate::skips::{self, Machine, Skips};
use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use whylate_testing::{SKIPS, Skip};

/// What came of the tests.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    passed: usize,
    failed: usize,
    /// Why cargo failed, if it did.
    error: Option<String>,
    pub(crate) skips: Vec<Skip>,
}

/// `N passed, N failed, N skipped`; to libtest a skipped test is one that passed.
impl fmt::Display for Tests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = skips::whole(&self.skips);
        let passed = self.passed.saturating_sub(skipped);
        write!(f, "{passed} passed, {} failed, {skipped} skipped", self.failed)
    }
}

impl Tests {
    /// Runs them, whatever fails; their output goes where ours does.
    pub(crate) fn run(root: &Path) -> Tests {
        let skips = Skips::new(root);
        let mut command = root::cargo(root);
        command.args(["test", "--workspace", "--locked", "--no-fail-fast"]).env(SKIPS, skips.path());
        let mut tests = Tests::default();
        tests.error = tests.count(&mut command).err();
        tests.skips = skips.take();
        tests
    }

    /// Passes the command's output on, and adds up its results of tests.
    fn count(&mut self, command: &mut Command) -> Result<(), String> {
        let cannot = |what: &str, error: std::io::Error| format!("the tests cannot be {what}: {error}");
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| cannot("started", error))?;
        let mut out = std::io::stdout().lock();
        let mut lines = BufReader::new(child.stdout.take().ok_or("the tests have no output")?);
        let mut line = Vec::new();
        // Bytes, as a test may print anything.
        while lines.read_until(b'\n', &mut line).map_err(|error| cannot("read", error))? > 0 {
            // Our own reader may be gone, which is no fault of the tests.
            let _ = out.write_all(&line);
            self.add(&String::from_utf8_lossy(&line));
            line.clear();
        }
        let status = child.wait().map_err(|error| cannot("waited for", error))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    }

    /// `test result: ok. 3 passed; 0 failed; ...`
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.split_once("test result: ") else { return };
        let count = |word: &str| {
            let (before, _) = counts.split_once(word)?;
            before.split_whitespace().next_back()?.parse::<usize>().ok()
        };
        self.passed += count(" passed").unwrap_or(0);
        self.failed += count(" failed").unwrap_or(0);
    }

    /// How the step ends; `ci` is the machine where it must skip nothing that it can do.
    pub(crate) fn outcome(&self, ci: Option<Machine>) -> StepOutcome {
        if let Some(error) = &self.error {
            return StepOutcome::Failed(error.clone());
        }
        let avoidable = ci.map(|machine| machine.avoidable(&self.skips).len()).unwrap_or(0);
        if avoidable > 0 {
            return StepOutcome::Failed(format!("{avoidable} skipped tests could have run here: see below"));
        }
        StepOutcome::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_testing::Need;

    fn counted(lines: &[&str]) -> Tests {
        let mut tests = Tests::default();
        lines.iter().for_each(|line| tests.add(line));
        tests
    }

    #[test]
    fn the_counts_of_all_test_programs_are_added_up() {
        let mut tests = counted(&[
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
        ]);
        assert_eq!(tests.to_string(), "13 passed, 2 failed, 0 skipped");
        let need = Need::Root.word().to_owned();
        tests.skips = vec![Skip { name: "a".to_owned(), need, reason: "x".to_owned() }];
        assert_eq!(tests.to_string(), "12 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn a_skip_fails_only_in_ci_and_only_where_the_machine_has_what_it_needs() {
        let need = Need::Tracefs.word().to_owned();
        let skips = vec![Skip { name: "a".to_owned(), need, reason: "x".to_owned() }];
        let tests = Tests { skips, ..Tests::default() };
        let machine = |tracefs| Machine { root: true, tracefs, programs: true };
        assert_eq!(tests.outcome(None), StepOutcome::Passed);
        assert_eq!(tests.outcome(Some(machine(false))), StepOutcome::Passed);
        assert!(matches!(tests.outcome(Some(machine(true))), StepOutcome::Failed(_)));
    }

    #[test]
    fn what_cargo_could_not_build_fails() {
        let mut tests = Tests::default();
        tests.error = tests.count(&mut Command::new("false")).err();
        assert!(matches!(tests.outcome(None), StepOutcome::Failed(_)));
        assert!(tests.count(&mut Command::new("no-such-program-anywhere")).is_err());
    }
}
