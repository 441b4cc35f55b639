//! `cargo xtask`: the project's own commands. `cargo xtask help` lists them.

mod artefacts;
mod bench;
mod cross;
mod debian_root;
mod environment;
mod monitoring;
mod outcome;
mod python;
mod release;
mod root;
mod schema;
mod score;
mod skips;
mod suite;
mod test;
mod tidy;
mod tools;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything a change must pass: format, clippy, tests, documentation, tidy
    Test,
    /// Check the invariants that can be seen by reading the tree
    Tidy {
        #[command(subcommand)]
        list: Option<tidy::List>,
    },
    /// Measure whylate beside its peers, on this machine
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Run the lab's scenarios on real kernels and count how often the answers are right
    Score(score::Score),
    /// Build the programs for arm64 and riscv64, and static for x86-64
    Cross(cross::Cross),
    /// Build the wheel of the Python package and run all its tests, with two executors of Spark
    Python(python::Python),
    /// Have a real Prometheus read the metrics, the alert rules and the dashboard's queries
    Monitoring,
    /// Make all that users download: archives, packages, an image, checksums, a bill of materials
    Release(artefacts::Release),
    /// Write the generated files that are checked in (JSON schemas) anew
    #[command(alias = "docs")]
    Schema,
}

fn main() -> ExitCode {
    let passed = root::find().and_then(|root| match Arguments::parse().command {
        Command::Test => test::run(&root),
        Command::Tidy { list: None } => tidy::run(&root),
        Command::Tidy { list: Some(list) } => list.run(&root),
        Command::Bench(bench) => bench.run(&root).map(|()| true),
        Command::Score(score) => score.run(&root),
        Command::Cross(cross) => cross.run(&root),
        Command::Python(python) => python.run(&root),
        Command::Monitoring => monitoring::run(&root),
        Command::Release(release) => release.run(&root),
        Command::Schema => schema::run(&root),
    });
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}
