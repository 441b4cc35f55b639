//! `whylate ps`

mod live;
mod view;

use crate::args::PsArgs;
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use crate::signals;
use anyhow::{Result, bail};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use whylate_host::FsRoot;
use whylate_investigate::record::Stop;
use whylate_report::ps::PsView;
use whylate_threads::ps::{PsOptions, PsReport, PsSample};

/// How long a signal may go unnoticed.
const GLANCE: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &PsArgs) -> Result<ExitStatus> {
    let options = PsOptions { tasks: args.task.clone(), all: args.all };
    let interval = Duration::from_nanos(args.interval.0.unsigned_abs());
    if args.live {
        return live::run(options, args.irq, interval);
    }
    let tree = FsRoot::open(&args.root)?;
    let destination = Destination::of::<PsView<'_>>(&args.output, &[])?;
    let report = match args.root == Path::new("/") {
        true => {
            let stop = signals::stop_flags()?;
            let before = PsSample::read(&tree);
            wait(interval, &stop);
            PsReport::of(&tree, &options, Some(&before), &PsSample::read(&tree))
        }
        false => PsReport::of(&tree, &options, None, &PsSample::read(&tree)),
    };
    if report.threads.is_empty() && report.all_threads > 0 && !options.tasks.is_empty() {
        bail!(
            "no thread has the id or name {}; `whylate ps --all` lists all threads",
            options.tasks.join(" or ")
        );
    }
    destination.write(&PsView { report: &report, interrupts: args.irq })?;
    Ok(if report.all_threads == 0 { ExitStatus::CannotTell } else { ExitStatus::Done })
}

/// Waits for the second sample; a signal ends the wait, and the rates are of the shorter time.
fn wait(interval: Duration, stop: &Stop) {
    let end = Instant::now() + interval;
    while !stop.asked.load(Ordering::Acquire)
        && let Some(left) = end.checked_duration_since(Instant::now())
    {
        std::thread::sleep(left.min(GLANCE));
    }
}
