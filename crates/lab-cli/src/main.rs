//! The binary `whylate-lab`: arguments, exit codes, glue.

mod args;
mod beside;
mod exit_status;
mod output;
mod signals;
mod verbs;

use anyhow::{Result, bail};
use args::{Cli, Verb};
use clap::Parser;
use exit_status::ExitStatus;
use output::message;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Cli::parse().verb) {
        Ok(code) => code,
        Err(error) => {
            message!("whylate-lab: {error:#}");
            ExitStatus::Failed.into()
        }
    }
}

fn run(verb: &Verb) -> Result<ExitCode> {
    let outcome = match verb {
        Verb::Run(args) => verbs::run::run(args)?,
        Verb::Programs(args) => verbs::programs::run(args)?,
        Verb::Mistakes(args) => verbs::mistakes::run(args)?,
        Verb::Fixes(args) => verbs::fixes::run(args)?,
        Verb::Predict(args) => verbs::predict::run(args)?,
        Verb::Disk(args) => verbs::disk::run(args)?,
        Verb::Tuning(args) => verbs::tuning::run(args)?,
        Verb::KillAt { at, command } => return verbs::kill_at::run(*at, command),
        Verb::State => {
            output::print_json(&serde_json::to_value(whylate_lab_cli::state::take())?)?;
            ExitStatus::Done
        }
        Verb::Guest => match whylate_lab::guest::service() {
            Ok(()) => ExitStatus::Done,
            Err(problem) => bail!(problem),
        },
    };
    Ok(outcome.into())
}
