//! `whylate lab`

mod exec;
mod host_too;
mod kernels;
mod names;
mod peer;
mod proof;

use crate::args::LabVerb;
use crate::exit_status::ExitStatus;
use anyhow::{Result, bail};

pub(crate) fn run(verb: &LabVerb) -> Result<ExitStatus> {
    match verb {
        LabVerb::Kernels(args) => kernels::run(args),
        LabVerb::Exec(args) => exec::run(args),
        LabVerb::Guest => bail!(whylate_lab::guest::main()),
    }
}
