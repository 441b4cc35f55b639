//! Time that a guest's CPUs lost to other threads of the host, by the host's recording.

use super::info::{FindingInfo, page};
use super::words::times;
use crate::causes::advised::{HOST, all_by_hand};
use crate::model::{HostDelay, HostRecording, thread_name};
use whylate_base::{Evidence, Finding, Ns, Severity};

pub(super) const INFO: FindingInfo = FindingInfo { code: "vcpu-preempted", page: page!("vcpu-preempted") };

/// Shorter delays make nothing late.
const NOTABLE: Ns = Ns::from_us(50);
/// Culprits that are listed.
const LISTED: usize = 4;

/// At most one finding.
pub(crate) fn of_host(host: &HostRecording) -> Vec<Finding> {
    let total: Ns = host.delays.iter().map(|delay| delay.total).sum();
    let Some(worst) = host.delays.first().filter(|worst| worst.longest >= NOTABLE) else { return Vec::new() };
    let by = worst.by.map_or_else(|| worst.cause.to_string(), |by| by.to_string());
    vec![Finding {
        code: INFO.code,
        severity: Severity::Warning,
        title: format!(
            "the host kept this guest's CPUs off its own for {total} in all; the longest delay was {} by {by}",
            worst.longest
        ),
        why: format!(
            "the host's recording {} shows when the threads of the guest's CPUs could not run; its clock is joined with the \
             guest's within {}",
            host.file, host.join.error
        ),
        evidence: host.delays.iter().take(LISTED).map(evidence).collect(),
        fix: all_by_hand(
            HOST,
            &[
                "on the host: give the threads of the guest's CPUs host CPUs of their own, or priorities above those of what \
               delays them",
            ],
        ),
    }]
}

fn evidence(delay: &HostDelay) -> Evidence {
    let thread = thread_name(&delay.vcpu.comm, delay.vcpu.tid);
    let by = delay.by.map_or_else(String::new, |by| format!("{by}: "));
    let what = format!(
        "{by}{} {}, {} in all, {} at once, then of {thread}",
        delay.cause,
        times(delay.times),
        delay.total,
        delay.longest
    );
    Evidence::at(delay.at, delay.vcpu.cpu, what)
}
