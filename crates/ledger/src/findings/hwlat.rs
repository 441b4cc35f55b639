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
    let in_all: u64 = cpus.values().map(|gaps| gaps.count).sum();
    let evidence = cpus.iter().map(|(&cpu, gaps)| {
        let what = format!("{} at once, the longest gap of {}", gaps.longest, samples(gaps.count));
        Evidence::at(gaps.at, cpu, what)
    });
    vec![Finding {
        code: Cause::Stolen.code(),
        severity: severity(most.longest, subject.options.deadline),
        title: format!(
            "CPU {cpu} stood still for {} while it spun with interrupts off: {} with gaps in all",
            most.longest,
            samples(in_all)
        ),
        why: format!("only an NMI could run there; {}", suspect(subject.timeline.hypervisor)),
        evidence: evidence.collect(),
        fix: Cause::Stolen.advice(&Advised::general()),
    }]
}

/// `one sample`, `3 samples`: each may have more gaps than its longest (`count` of its line).
fn samples(count: u64) -> String {
    if count == 1 { "one sample".to_owned() } else { format!("{count} samples") }
}
