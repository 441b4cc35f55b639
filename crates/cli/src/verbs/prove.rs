//! `whylate prove`, and the process that restores the machine where it is killed.

mod settings;

use super::plan::from::{From, check_options};
use super::plan::{self, has_profile};
use super::tuning::Site;
use crate::args::{Place, ProveArgs, ProveWatchdogArgs};
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use crate::signals;
use anyhow::{Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use whylate_base::shell_word;
use whylate_host::{FsRoot, Snapshot};
use whylate_investigate::measure::Loading;
use whylate_probes::load::{Launcher, Load};
use whylate_profiles::DesiredState;
use whylate_profiles::fixes::Fixes;
use whylate_prove::{
    MachineAccess, ProveOptions, ProveProgress, ProveReport, ProveVerdict, RoundSummary, prove,
};
use whylate_tuning::JournalStore;

/// This program's own image, whatever an upgrade does to its file meanwhile.
const IMAGE: &str = "/proc/self/exe";

pub(crate) fn run(args: &ProveArgs) -> Result<ExitStatus> {
    let destination = Destination::of::<ProveReport>(&args.output, args.from.as_slice())?;
    let from = args.from.as_deref().map(From::read).transpose()?;
    let change = Change::of(args, from.as_ref())?;
    let late = from.as_ref().map(|from| from.late.as_slice()).unwrap_or_default();
    let options = ProveOptions {
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
    };
    let allowed = plan::allowed(&args.wanted)?;
    let site = here(&args.journals)?;
    let stop = signals::stop_flags()?;
    let watchdog: [OsString; 3] = [IMAGE.into(), "prove-watchdog".into(), args.journals.clone().into()];
    let access =
        MachineAccess { system: &site.system, store: &site.store, allowed: &allowed, watchdog: &watchdog };
    let desired =
        |tree: &FsRoot, host: &Snapshot| change.desired(tree, host).map_err(|error| format!("{error:#}"));
    let report = prove(&options, access, &desired, &stop.asked, &mut |event| match event {
        ProveProgress::Restored(id) => {
            message!("note: an earlier `whylate prove` was killed: its change, apply {id}, is rolled back");
        }
        ProveProgress::Started => message!(
            "measuring {}: 8 to {} rounds of {}, before and after in alternation ...",
            options.subject,
            options.rounds,
            options.round
        ),
        ProveProgress::Round(round) => message!("{}", line(round)),
    })?;
    destination.write(&report)?;
    Ok(outcome(&report))
}

/// What the watchdog's own process does.
pub(crate) fn watch(args: &ProveWatchdogArgs) -> Result<ExitStatus> {
    let site = here(&args.journals)?;
    for sentence in whylate_prove::restore_at_end(&site.system, &site.store)? {
        message!("whylate prove was killed: {sentence}");
    }
    Ok(ExitStatus::Done)
}

/// This machine, with the journals in this root.
fn here(journals: &Path) -> Result<Site> {
    let site = Site::open(&Place { root: PathBuf::from("/") })?;
    Ok(Site { store: JournalStore::of(journals)?, ..site })
}

fn outcome(report: &ProveReport) -> ExitStatus {
    match report.verdict {
        ProveVerdict::Better if report.worse_side_effects().next().is_none() => ExitStatus::Done,
        ProveVerdict::Better | ProveVerdict::Worse | ProveVerdict::NoDifference => ExitStatus::Found,
        ProveVerdict::Refused => ExitStatus::CannotTell,
    }
}

/// What the change is made of.
enum Change<'a> {
    /// A profile, or the fixes of a document.
    Plan { args: &'a ProveArgs, from: Option<&'a From> },
    /// Settings of the command line.
    Settings(Fixes),
}

impl<'a> Change<'a> {
    fn of(args: &'a ProveArgs, from: Option<&'a From>) -> Result<Change<'a>> {
        let wanted = &args.wanted;
        let of_profile = wanted.profile.is_some() || wanted.tuned.is_some() || wanted.isolated.is_some();
        match from {
            Some(from) => {
                check_options(from, has_profile(wanted))?;
                Ok(Change::Plan { args, from: Some(from) })
            }
            None if of_profile => Ok(Change::Plan { args, from: None }),
            None if wanted.set.is_empty() => {
                bail!("which change? give --from FILE.json of `whylate explain --json`, --profile, or --set")
            }
            None => Ok(Change::Settings(settings::fixes(&wanted.set)?)),
        }
    }

    fn desired(&self, tree: &FsRoot, host: &Snapshot) -> Result<DesiredState> {
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

fn line(round: &RoundSummary) -> String {
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
