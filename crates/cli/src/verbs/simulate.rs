//! `whylate simulate`

use crate::args::SimulateArgs;
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::{Context, Result};
use std::fs;
use std::io;
use whylate_simulate::taskset::{self, Overrides};
use whylate_simulate::{RunOptions, SimulationReport, simulate};

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitStatus> {
    let name = args.tasks.display();
    let destination = Destination::of::<SimulationReport>(&args.output, std::slice::from_ref(&args.tasks))?;
    let text = match args.tasks.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(&args.tasks),
    };
    let text = text.with_context(|| format!("cannot read the task set {name}"))?;
    let overrides = Overrides { kernel: args.kernel, cpus: args.cpus };
    let model = taskset::read(&text, &overrides).with_context(|| format!("{name}"))?;
    let options = RunOptions { duration: args.duration, seed: args.seed, worst: args.worst.into() };
    let report = simulate(&model, options);
    destination.write(&report)?;
    Ok(ExitStatus::of(&report.findings, args.fail_on.into()))
}
