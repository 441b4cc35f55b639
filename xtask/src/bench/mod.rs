//! `cargo xtask bench`: measures whylate beside its peers, on this machine. Nothing here passes or fails.

mod build;
mod check;
mod claims;
mod costs;
mod guard;
mod measure;
mod process;
mod read;
mod simulate;
mod stacks;
mod storm;
mod threads;

use anyhow::Result;
use clap::Subcommand;
use std::path::Path;

/// The benches.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Explain a large recording of context switches, beside `trace-cmd report` of the same file
    Read(read::Read),
    /// Blow the storm that `read` records
    #[command(hide = true)]
    Storm(storm::Blow),
    /// Build a release from clean: seconds and bytes
    Build(build::Build),
    /// Check this machine and a large one that is made up, beside rtcqs and TuneD
    Check(check::Check),
    /// Ask for claims that are known to be true or false, and count the answers
    Claims(claims::Claims),
    /// Measure what operations cost, beside `perf bench` and small C programs, in turn
    Costs(costs::Costs),
    /// Let threads starve in guests, and let `whylate guard` and stalld help them, in turn
    Guard(guard::Guard),
    /// Measure wake-up latencies beside cyclictest, in turn: idle, and under stress-ng
    Measure(measure::Measure),
    /// Simulate activations of ten tasks on four CPUs: seconds, and whether memory grows
    Simulate(simulate::Simulate),
    /// Run a program with and without its observers, in turn: record, its stacks, doctor, perf and strace
    Stacks(stacks::Stacks),
    /// Be the program that `stacks` has observed
    #[command(hide = true)]
    Workload(stacks::workload::Workload),
}

impl Bench {
    pub(crate) fn run(&self, root: &Path) -> Result<()> {
        match self {
            Bench::Read(read) => read.run(root),
            Bench::Storm(storm) => storm.run(),
            Bench::Build(build) => build.run(root),
            Bench::Check(check) => check.run(root),
            Bench::Claims(claims) => claims.run(),
            Bench::Costs(costs) => costs.run(root),
            Bench::Guard(guard) => guard.run(root),
            Bench::Measure(measure) => measure.run(root),
            Bench::Simulate(simulate) => simulate.run(root),
            Bench::Stacks(stacks) => stacks.run(root),
            Bench::Workload(workload) => workload.run(),
        }
    }
}
