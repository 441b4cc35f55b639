//! What the command line of `whylate prove` asks for: the change, what is measured, where.

use super::settings;
use crate::args::{Place, ProveArgs};
use crate::exit_status::ExitStatus;
use crate::verbs::plan::from::{From, check_options};
use crate::verbs::plan::{self, has_profile};
use crate::verbs::tuning::Site;
use anyhow::{Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use whylate_base::shell_word;
use whylate_host::{FsRoot, Snapshot};
use whylate_investigate::measure::Loading;
use whylate_probes::load::{Launcher, Load};
use whylate_profiles::DesiredState;
use whylate_profiles::fixes::Fixes;
use whylate_prove::{ProveOptions, ProveReport, ProveVerdict, RoundSummary};
use whylate_tuning::JournalStore;

/// This program's own image, whatever an upgrade does to its file meanwhile.
pub(super) const IMAGE: &str = "/proc/self/exe";

/// What is measured, and for how long.
pub(super) fn options(args: &ProveArgs, from: Option<&From>) -> Result<ProveOptions> {
    let late = from.map(|from| from.late.as_slice()).unwrap_or_default();
    Ok(ProveOptions {
        subject: args.subject(late)?,
        command: loading(args)?,
        command_name: command_name(args),
        throughput: args.throughput.clone(),
        round: args.round,
        rounds: args.rounds,
        limit: args.duration,
        settle: args.settle,
        keep: args.keep,
        checked_cpus: args.wanted.isolated.clone(),
    })
}

/// This machine, with the journals in this root.
pub(super) fn here(journals: &Path) -> Result<Site> {
    let site = Site::open(&Place { root: PathBuf::from("/") })?;
    Ok(Site { store: JournalStore::of(journals)?, ..site })
}

/// The exit code of a report.
pub(super) fn outcome(report: &ProveReport) -> ExitStatus {
    match report.verdict {
        ProveVerdict::Better if report.worse_side_effects().next().is_none() => ExitStatus::Done,
        ProveVerdict::Better | ProveVerdict::Worse | ProveVerdict::NoDifference => ExitStatus::Found,
        ProveVerdict::Refused => ExitStatus::CannotTell,
    }
}

/// What the change is made of.
pub(super) enum Change<'a> {
    /// A profile, or the fixes of a document.
    Plan { args: &'a ProveArgs, from: Option<&'a From> },
    /// Settings of the command line.
    Settings(Fixes),
}

impl<'a> Change<'a> {
    pub(super) fn of(args: &'a ProveArgs, from: Option<&'a From>) -> Result<Change<'a>> {
        let wanted = &args.wanted;
        let of_profile = wanted.profile.is_some() || wanted.tuned.is_some() || wanted.isolated.is_some();
        match from {
            Some(from) => {
                check_options(from, has_profile(wanted))?;
                Ok(Change::Plan { args, from: Some(from) })
            }
            None if of_profile => Ok(Change::Plan { args, from: None }),
            None if !args.kernel_parameter.is_empty() => {
                Ok(Change::Settings(settings::parameters(&args.kernel_parameter)))
            }
            None if wanted.set.is_empty() => {
                bail!(
                    "which change? give --from FILE.json of `whylate explain --json`, --profile, --set, or --kernel-parameter with \
                     --across-reboots"
                )
            }
            None => Ok(Change::Settings(settings::fixes(&wanted.set)?)),
        }
    }

    pub(super) fn desired(&self, tree: &FsRoot, host: &Snapshot) -> Result<DesiredState> {
        match self {
            Change::Plan { args, from } => {
                plan::desired(&args.wanted, from.map(|from| (from, args.fix.as_slice())), tree, host)
            }
            Change::Settings(fixes) => {
                let all: Vec<usize> = fixes.each.iter().map(|fix| fix.number).collect();
                let chosen = fixes.choose(&all, host)?.desired;
                Ok(DesiredState { profile: "settings of the command line".to_owned(), ..chosen })
            }
        }
    }
}

/// The command and the loads, as processes that end with each round.
fn loading(args: &ProveArgs) -> Result<Option<Loading>> {
    let mut loads: Vec<Load> = Vec::new();
    if !args.command.is_empty() {
        loads.push(Load::Command(shell_words(&args.command)?));
    }
    loads.extend(args.load.iter().flat_map(|list| list.0.clone()));
    let launcher = Launcher { program: IMAGE.into(), arguments: vec!["load-worker".into()] };
    Ok((!loads.is_empty()).then_some(Loading { loads, cpus: None, launcher }))
}

/// The command and the loads in words.
fn command_name(args: &ProveArgs) -> Option<String> {
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let loads = args.load.iter().flat_map(|list| &list.0).map(ToString::to_string);
    let all: Vec<String> = (!words.is_empty()).then(|| words.join(" ")).into_iter().chain(loads).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// A command line that a shell reads as these words.
fn shell_words(words: &[OsString]) -> Result<String> {
    let mut text = "exec".to_owned();
    for word in words {
        let Some(word) = word.to_str() else {
            bail!("the command has a word that is not UTF-8: {}", word.display());
        };
        text += &format!(" {}", shell_word(word));
    }
    Ok(text)
}

/// A round in a line.
pub(super) fn line(round: &RoundSummary) -> String {
    let known = |latency: Option<whylate_base::Ns>| {
        latency.map_or_else(|| "-".to_owned(), |latency| latency.to_string())
    };
    format!(
        "round {}, {}: {} samples, p50 {}, worst 1 % {}, max {}",
        round.number,
        round.state.name(),
        round.samples,
        known(round.median),
        known(round.worst_hundredth),
        known(round.max)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        let words = ["echo", "a b", "it's", "$HOME", ""].map(OsString::from);
        let text = shell_words(&words).expect("words");
        let output = std::process::Command::new("/bin/sh").args(["-c", &text]).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b it's $HOME \n");
        assert!(text.parse::<Load>().is_ok(), "{text}");
    }
}
