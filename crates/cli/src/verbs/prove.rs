//! `whylate prove`, and the process that restores the machine where it is killed.

pub(crate) mod reboots;
mod request;
mod settings;

use self::request::{Change, IMAGE, here, line, options, outcome};
use super::plan;
use super::plan::from::From;
use crate::args::{ProveArgs, ProveWatchdogArgs};
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use crate::signals;
use anyhow::Result;
use std::ffi::OsString;
use whylate_host::{FsRoot, Snapshot};
use whylate_prove::{MachineAccess, ProveProgress, ProveReport, prove};

pub(crate) fn run(args: &ProveArgs) -> Result<ExitStatus> {
    if args.status {
        return reboots::status(args);
    }
    if args.abandon {
        return reboots::abandon(args);
    }
    if args.across_reboots {
        return reboots::begin(args);
    }
    reboots::refuse_beside(args)?;
    let destination = Destination::of::<ProveReport>(&args.output, args.from.as_slice())?;
    let from = args.from.as_deref().map(From::read).transpose()?;
    let change = Change::of(args, from.as_ref())?;
    let options = options(args, from.as_ref())?;
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
