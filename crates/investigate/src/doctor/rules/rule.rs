//! What a rule is.

use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;

/// A mistake that programs make, and how an observation shows it.
pub(super) struct DoctorRule {
    /// Stable kebab-case code.
    pub(super) code: &'static str,
    /// What it means, why it matters, what to do, and what looks like it.
    pub(super) page: &'static str,
    /// What has to be observed for it.
    pub(super) needs: Needs,
    /// Where the observation shows it.
    pub(super) find: fn(&Observation) -> Vec<DoctorFinding>,
}

/// What has to be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// System calls, which a trace shows.
    Calls,
    /// Every one of them: that a call is missing is part of the evidence.
    AllCalls,
    /// Page faults with their call stacks.
    Faults,
    /// `/proc` alone.
    Files,
}

/// The page of a code.
macro_rules! page {
    ($code:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/doctor/", $code, ".md"))
    };
}
pub(super) use page;
