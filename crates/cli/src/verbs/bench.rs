//! `whylate bench`

use crate::args::BenchArgs;
use crate::exit_status::ExitStatus;
use crate::output::message;
use crate::report::Destination;
use crate::signals;
use anyhow::{Result, bail};
use whylate_probes::bench::{BenchOptions, BenchReport, bench, clock, socket};

pub(crate) fn run(args: &BenchArgs) -> Result<ExitStatus> {
    if let Some(option) = args.misplaced() {
        bail!("{option} is an option of `whylate bench socket`");
    }
    let stop = signals::stop_flags()?;
    if let Some(address) = args.server {
        let listening = |address| message!("whylate: serving at {address} until Ctrl-C");
        socket::serve(address, &stop.asked, listening)?;
        return Ok(ExitStatus::Done);
    }
    let destination = Destination::of::<BenchReport>(&args.output, &[])?;
    if let Some(source) = clock::restore_left()? {
        message!("whylate: a bench that was killed had changed the clock source; restored {source}");
    }
    let options = BenchOptions {
        kind: args.kind,
        duration: args.duration,
        cpus: args.cpus.clone(),
        peer: args.connect,
    };
    let report = bench(&options, &stop.asked)?;
    destination.write(&report)?;
    Ok(match (report.rows.is_empty(), report.has_fault()) {
        (true, _) => ExitStatus::CannotTell,
        (false, true) => ExitStatus::Found,
        (false, false) => ExitStatus::Done,
    })
}
