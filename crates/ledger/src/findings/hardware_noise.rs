//! Noise that osnoise counts as the hardware's: the clock jumped, and the kernel saw no interference.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use super::words::suspect;
use crate::causes::advised::RECORD;
use std::cmp::Reverse;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "hardware-noise", page: page!("hardware-noise") };

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let cpus = &subject.noises.cpus;
    let hit = cpus.iter().filter(|(_, noise)| noise.hardware > 0);
    let Some((cpu, most)) = hit.max_by_key(|(cpu, noise)| (noise.hardware, Reverse(**cpu))) else {
        return Vec::new();
    };
    let samples: u64 = cpus.values().map(|noise| noise.samples).sum();
    let total: u64 = cpus.values().map(|noise| noise.hardware).sum();
    vec![Finding {
        code: INFO.code,
        severity: Severity::Info,
        title: format!(
            "{total} noises without any interference that the kernel saw, {} of them on CPU {cpu}",
            most.hardware
        ),
        why: format!("{}; osnoise does not measure how long each was", suspect(subject.timeline.hypervisor)),
        evidence: vec![Evidence::general(format!("in {samples} samples of {} CPUs", cpus.len()))],
        fix: vec![AdvisedFix::by_hand(
            "measure their length with the hwlat tracer: it spins with interrupts off, so only the machine itself can \
             interfere",
            RECORD,
        )],
    }]
}
