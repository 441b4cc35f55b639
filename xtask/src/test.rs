//! `cargo xtask test`: the one command a change must pass. Runs every step, whatever failed before it.

use crate::outcome::{StepOutcome, outcome};
use crate::score::{self, Quick};
use crate::skips::Machine;
use crate::suite::Tests;
use crate::{monitoring, python, root, tidy, tools};
use anyhow::Result;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct SuiteStep {
    name: &'static str,
    outcome: StepOutcome,
    time: Duration,
}

impl fmt::Display for SuiteStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, why) = match &self.outcome {
            StepOutcome::Passed => ("ok", ""),
            StepOutcome::Failed(why) => ("FAILED", why.as_str()),
            StepOutcome::Skipped(why) => ("skipped", why.as_str()),
        };
        let line = format!("{:<10} {word:<8} {:>6.1} s  {why}", self.name, self.time.as_secs_f64());
        f.write_str(line.trim_end())
    }
}

/// Runs all steps; `false` if one failed.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let mut installs = false;
    let mut tests = Tests::default();
    let mut of_python = Vec::new();
    let steps = [
        step("tools", || tool_step(&mut installs)),
        step("format", || match component(root, "fmt", "rustfmt", &["fmt", "--all", "--check"]) {
            StepOutcome::Passed => format_of_every_file(root),
            other => other,
        }),
        step("clippy", || {
            let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            component(root, "clippy", "clippy", &arguments)
        }),
        step("test", || {
            tests = Tests::run(root);
            tests.outcome(root::in_ci().then(|| Machine::this(installs)))
        }),
        step("doc", || {
            // Private items too: most modules are private, and their links rot as fast.
            outcome(
                root::cargo(root)
                    .args(["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"])
                    .env("RUSTDOCFLAGS", "-D warnings"),
            )
        }),
        step("tidy", || match tidy::run(root) {
            Ok(true) => StepOutcome::Passed,
            Ok(false) => StepOutcome::Failed("see the lines above".to_owned()),
            Err(error) => StepOutcome::Failed(format!("{error:#}")),
        }),
        step("package", || outcome(&mut package(root))),
        step("python", || {
            let (outcome, notes) = python::quick(root);
            of_python = notes;
            outcome
        }),
        step("monitoring", || monitoring::step(root)),
        step("lab", || in_guests(score::quick(root))),
        step("arm64", || in_guests(score::arm64_smoke(root))),
    ];
    println!("\nxtask: summary");
    for step in &steps {
        println!("  {step}");
    }
    for skip in &tests.skips {
        println!("  skipped: {}: {}", skip.name, skip.reason);
    }
    of_python.iter().for_each(|note| println!("  {note}"));
    println!("xtask: tests: {tests}");
    Ok(passed(&steps))
}

fn in_guests(ran: Result<Quick>) -> StepOutcome {
    match ran {
        Ok(Quick::Ran { good: true, .. }) => StepOutcome::Passed,
        Ok(Quick::Ran { good: false, words }) => StepOutcome::Failed(words),
        Ok(Quick::Skipped(why)) => StepOutcome::Skipped(why),
        Err(error) => StepOutcome::Failed(format!("{error:#}")),
    }
}

fn passed(steps: &[SuiteStep]) -> bool {
    !steps.iter().any(|step| matches!(step.outcome, StepOutcome::Failed(_)))
}

fn step(name: &'static str, work: impl FnOnce() -> StepOutcome) -> SuiteStep {
    println!("\nxtask: {name}");
    let start = Instant::now();
    let outcome = work();
    SuiteStep { name, outcome, time: start.elapsed() }
}

/// Packs every crate that is published, as `cargo publish` would. `--no-verify`: to build the packages would fetch
/// crates.io's versions of our own crates. `--offline`: the tests before it have fetched all that it reads.
fn package(root: &Path) -> Command {
    let mut command = root::cargo(root);
    command.args([
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--offline",
        "--quiet",
        "--locked",
    ]);
    for name in ["xtask", "whylate-inject", "whylate-testing"] {
        command.args(["--exclude", name]);
    }
    command
}

/// A missing tool is never a failure of the tree: what cannot go without it fails by itself.
fn tool_step(installs: &mut bool) -> StepOutcome {
    let provided = tools::provide();
    *installs = provided.installs;
    for tool in &provided.missing {
        println!("{tool}");
    }
    let names: Vec<&str> = provided.missing.iter().map(|tool| tool.program).collect();
    if names.is_empty() {
        StepOutcome::Passed
    } else {
        StepOutcome::Skipped(format!("no {}", names.join(", no ")))
    }
}

/// `cargo fmt` follows the `mod` items that it can read. It does not reach a module that a macro declares.
fn format_of_every_file(root: &Path) -> StepOutcome {
    let files = match tidy::rust_files(root) {
        Ok(files) => files,
        Err(error) => return StepOutcome::Failed(format!("{error:#}")),
    };
    outcome(Command::new("rustfmt").args(["--check", "--edition", "2024"]).args(files).current_dir(root))
}

/// Runs a cargo command that comes as a component of its own.
fn component(root: &Path, subcommand: &str, name: &str, arguments: &[&str]) -> StepOutcome {
    let there = root::cargo(root)
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if there { outcome(root::cargo(root).args(arguments)) } else { absent(name, root::in_ci()) }
}

fn absent(component: &str, in_ci: bool) -> StepOutcome {
    let why = format!("{component} is not installed: rustup component add {component}");
    if in_ci { StepOutcome::Failed(why) } else { StepOutcome::Skipped(why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: StepOutcome) -> SuiteStep {
        SuiteStep { name: "format", outcome, time: Duration::from_millis(1250) }
    }

    #[test]
    fn a_skipped_step_does_not_fail_the_run_and_a_failed_one_does() {
        assert!(passed(&[ended(StepOutcome::Passed), ended(StepOutcome::Skipped("no rustfmt".into()))]));
        assert!(!passed(&[ended(StepOutcome::Failed("exit status: 1".into())), ended(StepOutcome::Passed)]));
    }

    #[test]
    fn a_missing_component_is_skipped_at_home_and_fails_in_ci() {
        assert!(
            matches!(absent("clippy", false), StepOutcome::Skipped(why) if why.contains("rustup component add"))
        );
        assert!(matches!(absent("clippy", true), StepOutcome::Failed(_)));
    }

    #[test]
    fn a_summary_line_has_name_outcome_time_and_reason() {
        assert_eq!(ended(StepOutcome::Passed).to_string(), "format     ok          1.2 s");
        let failed = ended(StepOutcome::Failed("exit status: 1".into())).to_string();
        assert_eq!(failed, "format     FAILED      1.2 s  exit status: 1");
    }
}
