//! `whylate load-worker`: a load of `whylate measure --load`, as a process of its own.

use crate::args::LoadWorkerArgs;
use crate::exit_status::ExitStatus;
use anyhow::Result;
use whylate_probes::load::serve;

pub(crate) fn run(args: &LoadWorkerArgs) -> Result<ExitStatus> {
    // The process that started it already has the reason for its end.
    Ok(match serve(&args.load, &args.cpus) {
        Ok(()) => ExitStatus::Done,
        Err(_) => ExitStatus::Failed,
    })
}
