//! `whylate completions`

use crate::args::{Cli, CompletionsArgs, Shell, visible};
use crate::exit_status::ExitStatus;
use crate::output;
use anyhow::{Context, Result};
use clap_complete::{generate, shells};

pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitStatus> {
    let mut command = visible(&Cli::definition());
    let mut text = Vec::new();
    match args.shell {
        Shell::Bash => generate(shells::Bash, &mut command, "whylate", &mut text),
        Shell::Zsh => generate(shells::Zsh, &mut command, "whylate", &mut text),
        Shell::Fish => generate(shells::Fish, &mut command, "whylate", &mut text),
    }
    output::print(std::str::from_utf8(&text).context("the completions are not UTF-8")?)?;
    Ok(ExitStatus::Done)
}
