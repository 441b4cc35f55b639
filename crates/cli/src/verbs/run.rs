//! `whylate run`

use crate::args::RunArgs;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use anyhow::Result;
use whylate_threads::run;

pub(crate) fn run(args: &RunArgs) -> Result<ExitStatus> {
    let request = args.request();
    if args.dry_run {
        let report = run::check(&request, &args.command);
        Destination::of::<run::RunReport>(&args.output, &[])?.write(&report)?;
        return Ok(match report.refused.is_empty() {
            true => ExitStatus::Done,
            false => ExitStatus::NotRun(NOT_STARTED),
        });
    }
    let mut notify = |now: &str| {
        if args.verbose {
            message!("whylate: {now}");
        }
    };
    let error = run::start(&request, &args.command, &mut notify);
    message!("whylate: {error}");
    Ok(ExitStatus::NotRun(error.exit_code()))
}

/// As env(1): this program failed, not the one that it was to start.
pub(crate) const NOT_STARTED: u8 = 125;
