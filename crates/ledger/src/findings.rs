//! What is to be said of the trace as a whole: one file per kind of finding.

mod bandwidth;
mod culprits;
mod deadline;
mod inversion;
mod losses;
mod pinned;
mod placement;
mod quota;
mod refused;
mod relative_sleep;
mod rttime;
mod starved;
mod stolen;
mod unseen;

use crate::engine::Engine;
use crate::model::Activation;
use whylate_base::{Finding, Ns};
use whylate_events::TraceInfo;

/// Everything a finding is made from.
pub(crate) struct Subject<'a> {
    pub(crate) engine: &'a Engine<'a>,
    pub(crate) trace: &'a TraceInfo,
    /// The worst activations of every selected thread.
    pub(crate) worst: &'a [Activation],
}

/// All findings, gravest first.
pub(crate) fn all(engine: &Engine<'_>, trace: &TraceInfo, worst: &[Activation]) -> Vec<Finding> {
    let subject = Subject { engine, trace, worst };
    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(deadline::findings(&subject));
    findings.extend(bandwidth::findings(&subject));
    findings.extend(refused::findings(&subject));
    findings.extend(rttime::findings(&subject));
    findings.extend(pinned::findings(&subject));
    findings.extend(starved::findings(&subject));
    findings.extend(inversion::findings(&subject));
    findings.extend(culprits::findings(&subject));
    findings.extend(placement::findings(&subject));
    findings.extend(quota::findings(&subject));
    findings.extend(stolen::findings(&subject));
    findings.extend(relative_sleep::findings(&subject));
    findings.extend(losses::findings(&subject));
    findings.extend(unseen::findings(&subject));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

/// The findings that are no causes, by code, each with its page.
const PAGES: [(&str, &str); 4] = [
    ("realtime-refused", include_str!("../docs/findings/realtime-refused.md")),
    ("rttime-exceeded", include_str!("../docs/findings/rttime-exceeded.md")),
    ("os-noise", include_str!("../docs/findings/os-noise.md")),
    ("hardware-noise", include_str!("../docs/findings/hardware-noise.md")),
];

/// The codes that have a [`finding_page`].
pub fn finding_codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|&(code, _)| code)
}

/// The page of a finding that is no cause of its own; others' code is their cause's.
pub fn finding_page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == code).map(|&(_, page)| page)
}

/// The distance between recurring instants, if they recur evenly: the median, when all are within a tenth of it.
fn rhythm(starts: &[Ns]) -> Option<Ns> {
    let mut distances: Vec<Ns> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    distances.sort();
    let median = *distances.get(distances.len() / 2)?;
    let even = distances
        .iter()
        .all(|distance| (*distance - median).0.unsigned_abs().saturating_mul(10) <= median.0.unsigned_abs());
    even.then_some(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_findings_page_is_its_own() {
        for code in finding_codes() {
            assert!(
                finding_page(code).is_some_and(|page| page.starts_with(&format!("# {code}\n"))),
                "{code}"
            );
        }
        assert_eq!(finding_page("no-such"), None);
    }
}
