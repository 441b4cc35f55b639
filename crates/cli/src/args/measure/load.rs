//! What is to run beside the measurement.

use clap::Args;
use whylate_base::CpuSet;
use whylate_investigate::measure::Phase;
use whylate_probes::load::{Load, ParseLoadError};

/// Several loads from one argument.
#[derive(Clone, Debug)]
pub(crate) struct LoadList(pub(crate) Vec<Load>);

pub(crate) fn loads(text: &str) -> Result<LoadList, ParseLoadError> {
    whylate_probes::load::parse(text).map(LoadList)
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Run loads during the measurement: cpu, memory, cache, io, net, fork, timer, irq, or a command such as "stress-ng --cpu 2"
    ///
    /// Each load is a SCHED_OTHER process on the CPUs of --load-cpus. All loads, with all processes that a command starts,
    /// end with the measurement. May be given several times.
    #[arg(long, value_name = "LIST|COMMAND", value_parser = loads)]
    pub(crate) load: Vec<LoadList>,
    /// The CPUs that loads run on, such as 0-3,8; default: all this process may use
    #[arg(long, value_name = "LIST")]
    pub(crate) load_cpus: Option<CpuSet>,
    /// Measure in phases, each for the whole duration, and compare them in the report: idle,stress
    ///
    /// The phase stress has the loads of --load; without it cpu, memory, cache, io, net, fork and timer. The report is that of the
    /// last phase, with the numbers of each. Exit codes and --deadline are about all of them.
    #[arg(long, value_name = "PHASES", value_parser = phases, conflicts_with_all = ["keep", "observer"])]
    pub(crate) phases: Option<PhaseList>,
}

/// Phases in their order.
#[derive(Clone, Debug)]
pub(crate) struct PhaseList(pub(crate) Vec<Phase>);

fn phases(text: &str) -> Result<PhaseList, String> {
    let phases: Vec<Phase> = text.split(',').map(|name| name.trim().parse()).collect::<Result<_, _>>()?;
    match phases.as_slice() {
        [first, second] if first != second => Ok(PhaseList(phases)),
        _ => Err("write idle,stress or stress,idle".to_owned()),
    }
}

/// `whylate load-worker`, which `whylate measure --load` starts.
#[derive(Debug, Args)]
pub(crate) struct LoadWorkerArgs {
    pub(crate) cpus: CpuSet,
    #[arg(allow_hyphen_values = true)]
    pub(crate) load: Load,
}
