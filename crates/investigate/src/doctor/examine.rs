//! From an observation to its report.

use super::facts::Observation;
use super::report::{self, DoctorReport};
use super::rules;
use std::process::ExitStatus;
use whylate_base::Ns;

/// Applies the rules to an observation; `unseen` begins with what could not be observed.
pub(super) fn report(
    observation: &Observation,
    mut unseen: Vec<String>,
    duration: Ns,
    child: Option<ExitStatus>,
) -> DoctorReport {
    let findings = rules::findings(observation);
    unseen.extend(rules::blind(observation));
    DoctorReport { duration, threads: report::threads(observation), findings, unseen, child }
}
