//! Findings about the trace as a whole: one file per kind of finding.
//!
//! A finding has the code of its cause, or a code and a page of its own ([`CODES`]).

mod bandwidth;
mod beside;
mod chain_late;
mod coarse_clock;
mod culprits;
mod deadline;
mod device_waits;
mod hardware_noise;
mod hwlat;
mod info;
mod inversion;
mod late_answers;
mod left_out;
mod longest_call;
mod losses;
mod measured_latency;
mod os_noise;
mod peer_late;
mod pinned;
mod placement;
mod producer_late;
mod quota;
mod recorded_cpus;
mod recurring;
mod refused;
mod relative_sleep;
mod rhythm;
mod rttime;
mod slack;
mod slept_through;
mod softirq_late;
mod starved;
mod stolen;
mod subject;
mod unseen;
mod vcpu_preempted;
mod words;
mod write_protected;

pub(crate) use chain_late::of_chains;
pub(crate) use peer_late::of_peer;
pub(crate) use subject::Subject;
pub(crate) use vcpu_preempted::of_host;

use crate::causes::Cause;
use crate::model::Explanation;
use info::FindingInfo;
use whylate_base::Finding;

/// The codes that are no cause's.
const CODES: [FindingInfo; 18] = [
    deadline::INFO,
    chain_late::INFO,
    refused::INFO,
    rttime::INFO,
    measured_latency::INFO,
    os_noise::INFO,
    hardware_noise::INFO,
    longest_call::INFO,
    softirq_late::INFO,
    coarse_clock::INFO,
    unseen::INFO,
    recorded_cpus::INFO,
    vcpu_preempted::INFO,
    peer_late::INFO,
    left_out::INFO,
    producer_late::INFO,
    recurring::IRQ,
    recurring::WORK,
];

/// Findings that are measurements, an answer by themselves.
const MEASURED: [&str; 6] = [
    measured_latency::INFO.code,
    os_noise::INFO.code,
    hardware_noise::INFO.code,
    longest_call::INFO.code,
    softirq_late::INFO.code,
    "stolen",
];

/// What each file finds. The order is that of findings of the same severity.
const FINDERS: [fn(&Subject<'_>) -> Vec<Finding>; 31] = [
    deadline::findings,
    bandwidth::findings,
    refused::findings,
    rttime::findings,
    pinned::findings,
    starved::findings,
    inversion::findings,
    culprits::findings,
    late_answers::findings,
    producer_late::findings,
    beside::findings,
    placement::findings,
    quota::findings,
    write_protected::findings,
    device_waits::findings,
    stolen::findings,
    relative_sleep::findings,
    left_out::findings,
    slack::findings,
    slept_through::findings,
    losses::findings,
    coarse_clock::findings,
    unseen::findings,
    recorded_cpus::findings,
    measured_latency::findings,
    os_noise::findings,
    hardware_noise::findings,
    hwlat::findings,
    longest_call::findings,
    softirq_late::findings,
    recurring::findings,
];

/// Adds findings to those that are there; the gravest stay first.
pub(crate) fn add(findings: &mut Vec<Finding>, more: impl IntoIterator<Item = Finding>) {
    findings.extend(more);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// All findings, gravest first.
pub(crate) fn all(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = FINDERS.iter().flat_map(|find| find(subject)).collect();
    for finding in &mut findings {
        finding.evidence.extend(subject.timeline.foreign_modules.named_in(&finding.evidence));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// The codes of findings that are no cause's; each has a [`finding_page`].
pub fn finding_codes() -> impl Iterator<Item = &'static str> {
    CODES.iter().map(|finding| finding.code)
}

/// The page of a finding's code: its own, or that of its cause.
pub fn finding_page(code: &str) -> Option<&'static str> {
    let own = CODES.iter().find(|finding| finding.code == code).map(|finding| finding.page);
    own.or_else(|| Cause::from_code(code).map(Cause::page))
}

impl Explanation {
    /// True when something was concluded: a thread, a chain or a critical section was explained, or noise was measured.
    pub fn concludes(&self) -> bool {
        let measured = |finding: &Finding| MEASURED.contains(&finding.code);
        let has_chains = self.chains.as_ref().is_some_and(|chains| !chains.found.is_empty());
        let explained = !self.tasks.is_empty() || !self.sections.is_empty() || has_chains;
        explained || self.findings.iter().any(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_one_page_of_its_own() {
        for code in finding_codes() {
            assert!(
                finding_page(code).is_some_and(|page| page.starts_with(&format!("# {code}\n"))),
                "{code}"
            );
            assert_eq!(Cause::from_code(code), None, "{code} is a cause's as well");
        }
        assert_eq!(finding_page("irq"), Some(Cause::Irq.page()));
        assert_eq!(finding_page("no-such"), None);
    }
}
