//! `whylate man-pages`

use crate::args::{Cli, ManPagesArgs};
use crate::atomic_file;
use crate::exit_status::ExitStatus;
use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use std::fs;
use std::path::Path;

pub(crate) fn run(args: &ManPagesArgs) -> Result<ExitStatus> {
    let directory = &args.directory;
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let mut command = Cli::definition().disable_help_subcommand(true);
    command.build();
    page(&command, directory)?;
    Ok(ExitStatus::Done)
}

/// Writes the page of a command, and those of its verbs.
fn page(command: &Command, directory: &Path) -> Result<()> {
    let source = format!("whylate {}", env!("CARGO_PKG_VERSION"));
    // An empty date would be left out, and the source then taken for it.
    let man = Man::new(command.clone()).date(" ").source(source).manual("User Commands");
    atomic_file::write(&directory.join(man.get_filename()), |out| {
        let mut text = Vec::new();
        man.render(&mut text)?;
        Ok(out.write_all(&text)?)
    })?;
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).try_for_each(|verb| page(verb, directory))
}
