//! `whylate doctor`

use crate::args::DoctorArgs;
use crate::exit_status::ExitStatus;
use crate::output::{self, message};
use crate::report::Destination;
use crate::signals;
use anyhow::{Result, bail};
use std::time::Duration;
use whylate_base::{Ns, Severity, Tid};
use whylate_investigate::doctor::{DoctorOptions, DoctorReport, DoctorTarget, codes, doctor, page};

pub(crate) fn run(args: &DoctorArgs) -> Result<ExitStatus> {
    if let Some(code) = &args.code {
        return print_page(code);
    }
    let target = match args.pid {
        Some(pid) => DoctorTarget::of_process(Tid(pid))?,
        None if args.command.is_empty() => {
            bail!("which program? give a command after `--`, or a process with --pid")
        }
        None => DoctorTarget::of_command(args.command.clone()),
    };
    let destination = Destination::of::<DoctorReport>(&args.output, &[])?;
    let stop = signals::stop_flags()?;
    if args.pid.is_some() && args.duration.is_none() {
        message!("examining until the process ends, or Ctrl-C ...");
    }
    let options = DoctorOptions {
        target,
        command_to_stderr: destination.is_for_programs(),
        duration: args.duration.map(|Ns(ns)| Duration::from_nanos(ns.unsigned_abs())),
        symbols: args.symbols.clone(),
    };
    let report = doctor(&options, &stop)?;
    if let Some(status) = report.child.filter(|status| !status.success()) {
        message!("note: the command ended with {status}");
    }
    destination.write(&report)?;
    Ok(outcome(&report, args.fail_on.into()))
}

/// Where no thread is real-time, nothing can be concluded.
fn outcome(report: &DoctorReport, fail_on: Severity) -> ExitStatus {
    match report.findings.iter().any(|finding| finding.severity >= fail_on) {
        true => ExitStatus::Found,
        false if !report.has_realtime() => ExitStatus::CannotTell,
        false => ExitStatus::Done,
    }
}

fn print_page(code: &str) -> Result<ExitStatus> {
    if code == "list" {
        output::print(&codes().map(|code| format!("{code}\n")).collect::<String>())?;
    } else if let Some(page) = page(code) {
        output::print(page)?;
    } else {
        bail!("`{code}` is not a finding of doctor; `whylate doctor --code list` names them all");
    }
    Ok(ExitStatus::Done)
}
