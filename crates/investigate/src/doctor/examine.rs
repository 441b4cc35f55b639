//! From an observation to its report.

use super::facts::Observation;
use super::report::{self, DoctorReport};
use super::rules;
use std::process::ExitStatus;
use whylate_base::Ns;
use whylate_events::{ModuleId, ModuleKind};

/// Applies the rules to an observation; `unseen` begins with what could not be observed.
pub(super) fn report(
    observation: &Observation,
    mut unseen: Vec<String>,
    duration: Ns,
    child: Option<ExitStatus>,
) -> DoctorReport {
    let findings = rules::findings(observation);
    unseen.extend(rules::blind(observation));
    unseen.extend(interpreted(observation));
    DoctorReport { duration, threads: report::threads(observation), findings, unseen, child }
}

/// Lines of a script that could be seen if its interpreter described its code.
fn interpreted(observation: &Observation) -> Option<String> {
    let script = observation.processes.values().find_map(|process| process.script.as_ref())?;
    let stacks = &observation.stacks;
    let is_generated = |module: ModuleId| {
        stacks.modules.get(module.0 as usize).is_some_and(|module| module.kind == ModuleKind::Jit)
    };
    let is_described = stacks
        .addresses
        .iter()
        .any(|address| !address.locations.is_empty() && address.module.is_some_and(is_generated));
    (!is_described).then(|| {
        format!(
            "the lines of {script} were not seen, only those of its interpreter: they are read from the memory of Python 3.11 to \
             3.13 on x86_64, with the rights that ptrace(2) needs; other interpreters must describe their code, as node does with \
             --perf-basic-prof"
        )
    })
}
