//! `whylate prove --across-reboots`, and what the unit calls after each boot.

use super::request::{Change, here, line, options, outcome};
use crate::args::{Cli, ProveArgs, Verb};
use crate::exit_status::ExitStatus;
use crate::output::{self, message};
use crate::report::{self, Destination};
use crate::signals;
use crate::verbs::plan;
use crate::verbs::plan::from::From;
use crate::verbs::tuning::Site;
use anyhow::{Context, Result, bail};
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::DesiredState;
use whylate_prove::reboots::{
    self, RebootOutcome, RebootProof, RebootRequest, RebootStore, parameters_alone,
};
use whylate_prove::{MachineAccess, ProveProgress, ProveReport, TunedMachine};
use whylate_tuning::AllowedRefusals;

/// Begins one.
pub(super) fn begin(args: &ProveArgs) -> Result<ExitStatus> {
    let destination = Destination::of::<ProveReport>(&args.output, args.from.as_slice())?;
    if args.from.as_deref() == Some(Path::new("-")) {
        bail!("--from - with --across-reboots: a later boot cannot read standard input again: give a file");
    }
    let from = args.from.as_deref().map(From::read).transpose()?;
    let change = Change::of(args, from.as_ref())?;
    let options = options(args, from.as_ref())?;
    let allowed = plan::allowed(&args.wanted)?;
    let site = here(&args.journals)?;
    let store = RebootStore::of(&args.journals);
    let stop = signals::stop_flags()?;
    let desired = |tree: &FsRoot, host: &Snapshot| {
        change.desired(tree, host).map(parameters_alone).map_err(|error| format!("{error:#}"))
    };
    let request = RebootRequest {
        arguments: words(std::env::args_os().skip(1))?,
        directory: words([std::env::current_dir().context("cannot read the current directory")?.into()])?
            .concat(),
        may_reboot: args.reboot,
    };
    let (machine, restored) = TunedMachine::open(access(&site, &allowed), &desired)?;
    restored.into_iter().for_each(note_restored);
    if let Some(path) = &args.from {
        store.keep_document(&fs::read(path).with_context(|| format!("cannot read {}", path.display()))?)?;
    }
    let reached = reboots::begin(&options, &machine, &store, request, &stop.asked, &mut progress)?;
    ended(&reached, &destination, &store)
}

/// Refuses another proof while one is in progress.
pub(super) fn refuse_beside(args: &ProveArgs) -> Result<()> {
    match RebootStore::of(&args.journals).load()? {
        Some(proof) if !proof.has_ended() => bail!(
            "a proof across reboots is in progress: see `whylate prove --status`, or end it with `whylate prove --abandon`"
        ),
        _ => Ok(()),
    }
}

/// After a boot, by the unit.
pub(crate) fn resume() -> Result<ExitStatus> {
    let store = RebootStore::of(Path::new("/"));
    let Some(proof) = store.load()? else {
        message!("no proof across reboots is in progress");
        return Ok(ExitStatus::Done);
    };
    let args = arguments(&proof, &store)?;
    std::env::set_current_dir(&proof.directory)
        .with_context(|| format!("cannot change into {}, where the proof was begun", proof.directory))?;
    let destination = Destination::of::<ProveReport>(&args.output, args.from.as_slice())?;
    let from = args.from.as_deref().map(From::read).transpose()?;
    let options = options(&args, from.as_ref())?;
    let allowed = plan::allowed(&args.wanted)?;
    let site = here(&args.journals)?;
    let stop = signals::stop_flags()?;
    let desired = |_: &FsRoot, _: &Snapshot| -> Result<DesiredState, String> { Ok(proof.desired.clone()) };
    let machine = TunedMachine::reopen(access(&site, &allowed), &desired, &proof.own_applies())?;
    match reboots::go_on(&options, &machine, &store, &stop.asked, &mut progress)? {
        Some(reached) => ended(&reached, &destination, &store),
        None => Ok(ExitStatus::Done),
    }
}

/// How far it is.
pub(super) fn status(args: &ProveArgs) -> Result<ExitStatus> {
    let store = RebootStore::of(&args.journals);
    let Some(proof) = store.load()? else {
        message!("no proof across reboots was begun on this machine");
        return Ok(ExitStatus::Done);
    };
    output::print(&format!("{}\n", proof.status()))?;
    if store.report().exists() && proof.has_ended() {
        output::print(&format!("report: {}\n", store.report().display()))?;
    }
    Ok(ExitStatus::Done)
}

/// Ends it.
pub(super) fn abandon(args: &ProveArgs) -> Result<ExitStatus> {
    let store = RebootStore::of(&args.journals);
    let Some(proof) = store.load()?.filter(|proof| !proof.has_ended()) else {
        message!("no proof across reboots is in progress: nothing was changed");
        return Ok(ExitStatus::Done);
    };
    let begun = arguments(&proof, &store)?;
    let options = options(&begun, None)?;
    let allowed = AllowedRefusals::default();
    let site = here(&args.journals)?;
    let desired = |_: &FsRoot, _: &Snapshot| -> Result<DesiredState, String> { Ok(proof.desired.clone()) };
    let machine = TunedMachine::reopen(access(&site, &allowed), &desired, &proof.own_applies())?;
    let reached = reboots::abandon(&options, &machine, &store)?;
    message!("{}", reached.proof.status());
    if reached.needs_reboot {
        message!("the running kernel has the changed parameters until the next reboot");
    }
    Ok(ExitStatus::Done)
}

/// No second process restores anything: nothing that counts in this boot is changed.
fn access<'a>(site: &'a Site, allowed: &'a AllowedRefusals) -> MachineAccess<'a> {
    MachineAccess { system: &site.system, store: &site.store, allowed, watchdog: &[] }
}

/// The command line that the proof was begun with.
fn arguments(proof: &RebootProof, store: &RebootStore) -> Result<ProveArgs> {
    let words = std::iter::once("whylate").chain(proof.arguments.iter().map(String::as_str));
    let cli =
        Cli::try_parse_from(words).context("the command line of the proof is not understood any more")?;
    let Verb::Prove(args) = cli.verb else { bail!("the proof was not begun by `whylate prove`") };
    let mut args = *args;
    if args.from.is_some() {
        args.from = Some(store.document());
    }
    Ok(args)
}

fn words(words: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Vec<String>> {
    let word = |word: std::ffi::OsString| {
        word.into_string().map_err(|word| {
            anyhow::anyhow!(
                "{} is not UTF-8: a later boot could not read it again",
                PathBuf::from(word).display()
            )
        })
    };
    words.into_iter().map(word).collect()
}

fn progress(event: ProveProgress<'_>) {
    match event {
        ProveProgress::Restored(id) => note_restored(id),
        ProveProgress::Started => message!("measuring the first round in this boot ..."),
        ProveProgress::Round(round) => message!("{}", line(round)),
    }
}

fn note_restored(id: u64) {
    message!("note: an earlier `whylate prove` was killed: its change, apply {id}, is rolled back");
}

/// Reports how far it is, and reboots where that was agreed to.
fn ended(reached: &RebootOutcome, destination: &Destination<'_>, store: &RebootStore) -> Result<ExitStatus> {
    let proof = &reached.proof;
    message!("{}", proof.status());
    let status = match &reached.report {
        Some(report) => {
            store.keep_report(&report::json(report)?)?;
            destination.write(report)?;
            outcome(report)
        }
        None if proof.has_ended() => ExitStatus::CannotTell,
        None => ExitStatus::Done,
    };
    if reached.needs_reboot {
        match proof.may_reboot {
            true => reboot()?,
            false if proof.has_ended() => {
                message!("reboot: the running kernel has other parameters than the next one")
            }
            false => {
                message!("reboot the machine: a service goes on with the next round (--reboot would do it)")
            }
        }
    }
    Ok(status)
}

fn reboot() -> Result<()> {
    message!("rebooting ...");
    // A shutdown ends what runs in this service, and so systemctl, by a signal and often before it has its answer.
    let status = Command::new("systemctl").args(["--no-block", "reboot"]).status();
    match status.context("cannot run systemctl reboot: reboot the machine yourself")? {
        status if status.success() || status.code().is_none() => Ok(()),
        status => bail!("systemctl reboot ended with {status}: reboot the machine yourself"),
    }
}
