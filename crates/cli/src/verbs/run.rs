//! `whylate run`

use crate::args::RunArgs;
use crate::exit_status::{ExitStatus, NOT_STARTED};
use crate::output::{self, message};
use crate::report::Destination;
use anyhow::{Context, Result};
use whylate_threads::run::{self, RunError, RunReport, RunRequest};

pub(crate) fn run(args: &RunArgs) -> Result<ExitStatus> {
    let request = args.request();
    let text = match (args.print_unit, args.print_code) {
        (true, _) => {
            let own = std::env::current_exe().context("cannot find this program")?;
            Some(run::unit(&request, &args.command, &own.to_string_lossy()))
        }
        (false, Some(language)) => Some(run::code(&request, language.into())),
        (false, None) => None,
    };
    match text {
        Some(Ok(text)) => return output::print(&text).map(|()| ExitStatus::Done),
        Some(Err(error)) => return Ok(failed(&error)),
        None => {}
    }
    let report = match (args.target(), args.dry_run) {
        (Some(target), true) => run::check_change(&request, &target),
        (Some(target), false) => run::change(&request, &target),
        (None, true) => Ok(run::check(&request, &args.command)),
        (None, false) => return start(args, &request),
    };
    let report = match report {
        Ok(report) => report,
        Err(error) => return Ok(failed(&error)),
    };
    Destination::of::<RunReport>(&args.output, &[])?.write(&report)?;
    Ok(match report.refused.is_empty() {
        true => ExitStatus::Done,
        false => ExitStatus::Program(NOT_STARTED),
    })
}

fn start(args: &RunArgs, request: &RunRequest) -> Result<ExitStatus> {
    let mut notify = |now: &str| {
        if args.verbose {
            message!("whylate: {now}");
        }
    };
    Ok(match run::start(request, &args.command, &mut notify) {
        Ok(code) => ExitStatus::Program(code),
        Err(error) => failed(&error),
    })
}

fn failed(error: &RunError) -> ExitStatus {
    message!("whylate: {error}");
    ExitStatus::Program(error.exit_code())
}
