//! `whylate guard`, and the process that restores where it is killed.

mod log;

use crate::args::{GuardArgs, GuardWatchdogArgs};
use crate::exit_status::ExitStatus;
use crate::output::{self, message};
use crate::{atomic_file, signals};
use anyhow::{Context, Result, bail};
use log::EventLog;
use std::path::Path;
use whylate_threads::guard::{self, GuardError};

pub(crate) fn run(args: &GuardArgs) -> Result<ExitStatus> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let options = args.options(vec![own.clone().into(), "guard-watchdog".into()]);
    if let Some(refusal) = options.refusal() {
        bail!("{refusal}");
    }
    if args.print_unit {
        return print_unit(args, &own);
    }
    if let Some(file) = &args.metrics {
        atomic_file::check(file)?;
    }
    // Threads that are started later would have no other policy, but the guard's memory is locked by then.
    let stop = signals::stop_flags()?;
    let mut log = EventLog::start(args.json, args.metrics.clone())?;
    let outcome = guard::guard(&options, &stop.asked, &mut |event| log.send(event));
    let lost = log.finish();
    if lost > 0 {
        message!("whylate: {lost} events were not written: standard output was blocked");
    }
    match outcome {
        Ok(counts) if options.once && counts.starving > 0 => Ok(ExitStatus::Found),
        Ok(_) => Ok(ExitStatus::Done),
        Err(GuardError::Unknown(why)) => {
            message!("whylate: {why}");
            Ok(ExitStatus::CannotTell)
        }
        Err(error) => Err(error.into()),
    }
}

fn print_unit(args: &GuardArgs, own: &Path) -> Result<ExitStatus> {
    if let Some(file) = args.metrics.as_ref().filter(|file| !file.is_absolute()) {
        bail!("--metrics {}: a unit has no current directory; give the whole path", file.display());
    }
    let words = std::env::args().skip(2).filter(|word| word != "--print-unit");
    let directory = args.metrics.as_ref().and_then(|file| file.parent());
    output::print(&guard::unit(&own.to_string_lossy(), &words.collect::<Vec<_>>(), directory))?;
    Ok(ExitStatus::Done)
}

/// The watchdog's own process.
pub(crate) fn watch(args: &GuardWatchdogArgs) -> Result<ExitStatus> {
    for sentence in guard::watch(&args.journal, args.cpus.as_ref())? {
        message!("whylate: the guard was killed: {sentence}");
    }
    Ok(ExitStatus::Done)
}
