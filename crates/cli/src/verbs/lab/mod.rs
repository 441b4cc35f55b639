//! `whylate lab`

mod disk;
mod exec;
mod kernels;
pub(crate) mod run;
mod tuning;

use crate::args::{GuestArgs, LabVerb};
use crate::outcome::Outcome;
use crate::output::{self, say};
use anyhow::{Result, anyhow, bail};
use std::path::Path;
use std::time::Duration;
use whylate_lab::kernels::Series;
use whylate_lab::{Kernel, LabError, Machine, Store};

pub(crate) fn run(verb: &LabVerb) -> Result<Outcome> {
    match verb {
        LabVerb::Kernels(args) => kernels::run(args),
        LabVerb::Exec(args) => exec::run(args),
        LabVerb::Run(args) => run::run(args),
        LabVerb::Disk(args) => disk::run(args),
        LabVerb::Tuning(args) => tuning::run(args),
        LabVerb::State => {
            output::print_json(&serde_json::to_value(whylate_lab::state::take())?)?;
            Ok(Outcome::Done)
        }
        LabVerb::Guest { service: true } => match whylate_lab::guest::service() {
            Ok(()) => Ok(Outcome::Done),
            Err(problem) => bail!(problem),
        },
        LabVerb::Guest { service: false } => bail!(whylate_lab::guest::main()),
    }
}

/// The machine that was asked for.
fn machine(args: &GuestArgs) -> Result<Machine> {
    let kernel = kernel(&args.kernel, args.modules.as_deref())?;
    Ok(Machine {
        cpus: args.cpus,
        time: args.time.into(),
        append: args.append.clone(),
        memory_mib: args.memory,
        limit: Duration::from_nanos(args.limit.0.unsigned_abs()),
        ..Machine::new(kernel)?
    })
}

/// A kernel by its name, or by its file.
fn kernel(name: &str, modules: Option<&Path>) -> Result<Kernel> {
    let path = Path::new(name);
    let known = Series::find(name).is_some();
    if known && modules.is_some() {
        bail!("--modules is for a kernel given as a file; {name} has modules of its own");
    }
    if !known && (modules.is_some() || name.contains('/') || path.is_file()) {
        return Ok(Kernel::from_image(path, modules)?);
    }
    let store = Store::open_default();
    if known && store.cached().iter().all(|kernel| kernel.name != name) {
        say!("kernel {name} is not cached: fetching it ...");
    }
    store.get(name).map_err(|error| match error {
        LabError::UnknownKernel { .. } => anyhow!("{error}; or give a file: --kernel PATH/vmlinuz"),
        error => error.into(),
    })
}
