//! The Python package: its wheel is built, installed in an environment of its own, and tested. `cargo xtask test` runs a part
//! of the tests as one step, `cargo xtask python` all of them.

mod foreign;
mod wheel;

use crate::environment::Environment;
use crate::outcome::StepOutcome;
use crate::root;
use crate::tools::found;
use anyhow::Result;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wheel::{Amount, built, passed, place, wheel, wheels};

/// `cargo xtask python`
#[derive(Args)]
pub(crate) struct Python {
    /// Only build the wheel, with the optimisations of a release
    #[arg(long)]
    wheel: bool,
    /// Build it for this architecture, and try it under qemu-user in a Debian root (root, mmdebstrap and a network)
    #[arg(long, requires = "wheel", value_name = "ARCH", value_parser = ["arm64"])]
    arch: Option<String>,
    /// Only what `cargo xtask test` runs: a wheel without optimisations, and the quick tests
    #[arg(long, conflicts_with = "wheel")]
    quick: bool,
    /// Only execute the notebooks, into HTML, with a wheel without optimisations
    #[arg(long, conflicts_with_all = ["wheel", "quick"])]
    notebook: bool,
}

impl Python {
    /// Builds the wheel and runs all tests; `false` if something failed.
    pub(crate) fn run(&self, root: &Path) -> Result<bool> {
        let amount = match self {
            Python { arch: Some(_), .. } => Amount::ForeignWheel,
            Python { wheel: true, .. } => Amount::Wheel,
            Python { quick: true, .. } => Amount::Quick,
            Python { notebook: true, .. } => Amount::Notebook,
            _ => Amount::Whole,
        };
        let (outcome, notes) = step(root, amount);
        println!("\nxtask: summary");
        notes.iter().for_each(|note| println!("  {note}"));
        match &outcome {
            StepOutcome::Passed => {
                println!("  python: ok: the wheel is in {}", wheels(root, amount).display())
            }
            StepOutcome::Failed(why) => println!("  python: FAILED: {why}"),
            StepOutcome::Skipped(why) => println!("  python: skipped: {why}"),
        }
        Ok(outcome == StepOutcome::Passed)
    }
}

/// The step of `cargo xtask test`, and what it had to skip, a line each.
pub(crate) fn quick(root: &Path) -> (StepOutcome, Vec<String>) {
    step(root, Amount::Quick)
}

fn step(root: &Path, amount: Amount) -> (StepOutcome, Vec<String>) {
    let mut notes = Vec::new();
    let outcome = match built_and_tested(root, amount, &mut notes) {
        Ok(()) => StepOutcome::Passed,
        Err(outcome) => outcome,
    };
    (outcome, notes)
}

fn built_and_tested(root: &Path, amount: Amount, notes: &mut Vec<String>) -> Result<(), StepOutcome> {
    let environment = Environment::make(&place(root)).map_err(StepOutcome::Skipped)?;
    let tests = root.join("python/tests");
    environment.install(&tests.join("requirements.txt")).map_err(StepOutcome::Skipped)?;
    fetched(root)?;
    if amount == Amount::ForeignWheel {
        return foreign::built_and_tried(root, &environment, notes);
    }
    passed(wheel(root, &environment, amount))?;
    if amount == Amount::Wheel {
        return Ok(());
    }
    passed(
        environment
            .pip(&["install", "--no-deps", "--force-reinstall", "--no-index"])
            .args(built(&wheels(root, amount))?),
    )?;
    if amount == Amount::Notebook {
        environment.install(&tests.join("requirements-notebook.txt")).map_err(StepOutcome::Skipped)?;
        return notebooks(root, &environment);
    }
    if !found("java") {
        notes.push(
            "skipped: python: Spark: no java; apt-get install default-jre-headless, as root".to_owned(),
        );
    } else if let Err(why) = environment.install(&tests.join("requirements-spark.txt")) {
        notes.push(format!("skipped: python: Spark: {why}"));
    }
    if amount == Amount::Whole {
        environment.install(&tests.join("requirements-whole.txt")).map_err(StepOutcome::Skipped)?;
        passed(lints(root))?;
        let types = root.join("python/pyproject.toml");
        let mut check = environment.python();
        check
            .args(["-m", "mypy.stubtest", "whylate", "--ignore-disjoint-bases", "--mypy-config-file"])
            .arg(types);
        passed(check.arg("--allowlist").arg(tests.join("stubtest-allowed.txt")).current_dir(place(root)))?;
    }
    if amount == Amount::Whole {
        environment.install(&tests.join("requirements-notebook.txt")).map_err(StepOutcome::Skipped)?;
        notebooks(root, &environment)?;
    }
    let log = place(root).join("skipped-tests");
    let tested = passed(pytest(root, &environment, amount).env("WHYLATE_PYTHON_SKIPS", &log));
    let skipped = fs::read_to_string(&log).unwrap_or_default();
    notes.extend(skipped.lines().map(|line| format!("skipped: python: {line}")));
    let _ = fs::remove_file(&log);
    tested
}

/// The packages of the crate: without a network it may be that they cannot be had.
fn fetched(root: &Path) -> Result<(), StepOutcome> {
    let mut cargo = root::cargo(root);
    cargo.args(["fetch", "--quiet", "--locked", "--manifest-path", "python/Cargo.toml"]);
    let output =
        cargo.output().map_err(|error| StepOutcome::Failed(format!("cargo cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    eprintln!("{why}");
    Err(if why.contains("--locked") {
        StepOutcome::Failed(
            "python/Cargo.lock is not up to date: cargo update --workspace --manifest-path python/Cargo.toml"
                .to_owned(),
        )
    } else {
        StepOutcome::Skipped(
            "cargo cannot fetch the packages of python/Cargo.lock: is there a network?".to_owned(),
        )
    })
}

fn lints(root: &Path) -> Command {
    let mut command = root::cargo(root);
    command.args(["clippy", "--locked", "--manifest-path", "python/Cargo.toml", "--target-dir"]);
    command.arg(root::target(root)).args(["--", "-D", "warnings"]);
    command
}

/// The tests, from the root: `python` must not be a place where modules are looked for.
fn pytest(root: &Path, environment: &Environment, amount: Amount) -> Command {
    let mut command = environment.program("pytest");
    command.current_dir(root).args(["-q", "-p", "no:cacheprovider", "python/tests"]).stdin(Stdio::null());
    // The program beside which the package is compared: the last that was built, as the step `test` does.
    let builds = ["debug", "release"].map(|profile| root::target(root).join(profile).join("whylate"));
    let changed = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
    if let Some(program) = builds.into_iter().filter(|path| path.is_file()).max_by_key(changed) {
        command.env("WHYLATE", program);
    }
    command.env("WHYLATE_PYTHON_RESULTS", place(root).join("results"));
    match amount {
        Amount::Quick => command.args(["-m", "not whole"]),
        _ => command.env("WHYLATE_SPARK_WHOLE", "1"),
    };
    command
}

/// Executes the notebooks into HTML. A cell that fails, fails.
fn notebooks(root: &Path, environment: &Environment) -> Result<(), StepOutcome> {
    let own = place(root).join("jupyter");
    // Without it IPython reports that it cannot write there.
    let _ = fs::create_dir_all(&own);
    let mut command = environment.python();
    command.args(["-m", "nbconvert", "--execute", "--to", "html", "--log-level", "ERROR", "--output-dir"]);
    command
        .arg(place(root).join("notebooks"))
        .arg("python/notebooks/late-activations.ipynb")
        .current_dir(root);
    // Nothing of the user's is read or written.
    for name in
        ["IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"]
    {
        command.env(name, own.join(name.to_lowercase()));
    }
    passed(command)?;
    println!("notebook: {}", place(root).join("notebooks/late-activations.html").display());
    Ok(())
}
