//! Gaps of a CPU that spun with interrupts off, as the hwlat tracer measured them.

use super::subject::Subject;
use super::words::{severity, suspect};
use crate::causes::Cause;
use crate::causes::advised::Advised;
use std::cmp::Reverse;
use whylate_base::{Evidence, Finding};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let cpus = &subject.noises.hwlat;
    let Some((cpu, most)) = cpus.iter().max_by_key(|(cpu, gaps)| (gaps.longest, Reverse(**cpu))) else {
        return Vec::new();
    };
    let gaps: u64 = cpus.values().map(|gaps| gaps.count).sum();
    let evidence = cpus.iter().map(|(&cpu, gaps)| {
        Evidence::at(gaps.at, cpu, format!("{} at once, the longest of {}", gaps.longest, gaps.count))
    });
    vec![Finding {
        code: Cause::Stolen.code(),
        severity: severity(most.longest, subject.options.deadline),
        title: format!(
            "CPU {cpu} stood still for {} while it spun with interrupts off: {gaps} gaps in all",
            most.longest
        ),
        why: format!("only an NMI could run there; {}", suspect(subject.timeline.hypervisor)),
        evidence: evidence.collect(),
        fix: Cause::Stolen.advice(&Advised::general()),
    }]
}
