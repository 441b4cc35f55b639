//! From an observation to its report.

use super::facts::Observation;
use super::report::{self, DoctorReport};
use super::rules;
use std::process::ExitStatus;
use whylate_base::Ns;
use whylate_events::ModuleKind;

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
    let is_described = observation.stacks.modules.iter().any(|module| module.kind == ModuleKind::Jit);
    (!is_described).then(|| {
        format!(
            "the lines of {script} were not seen, only those of its interpreter: Python 3.12 or later, started with \
             -X perf, describes them"
        )
    })
}
