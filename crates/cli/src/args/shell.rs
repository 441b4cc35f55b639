//! The arguments of `whylate completions` and `whylate man-pages`, and the command line as shells complete it.

use clap::builder::Resettable;
use clap::{Args, Command, Id, ValueEnum};
use std::path::PathBuf;

/// `whylate completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// A shell that completes command lines.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// `whylate man-pages`
#[derive(Debug, Args)]
pub(crate) struct ManPagesArgs {
    /// The directory, made if it is absent; pages in it are written anew
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// A command without its hidden verbs and options: the generators of completions list these as well. Which options exclude or
/// require others is left out, since it may name hidden ones.
pub(crate) fn visible(command: &Command) -> Command {
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(visible);
    let options = command.get_arguments().filter(|option| !option.is_hide_set());
    let none = || Resettable::<Id>::Reset;
    let options = options.map(|option| option.clone().conflicts_with(none()).requires(none()));
    let mut copy = Command::new(command.get_name().to_owned())
        .args(options)
        .subcommands(verbs)
        .subcommand_required(command.is_subcommand_required_set());
    if let Some(about) = command.get_about() {
        copy = copy.about(about.clone());
    }
    if let Some(version) = command.get_version() {
        copy = copy.version(version.to_owned());
    }
    copy
}
