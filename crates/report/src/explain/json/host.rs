//! The host's side of a guest in JSON.

use super::actors::{By, by};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_ledger as ledger;

/// A recording of the guest's host, joined with the explained one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The name of its file.
    pub file: String,
    /// The trace clock of the host's recording; null where the file does not name it.
    pub clock: Option<String>,
    /// The host's kernel; null where the file does not name it.
    pub kernel_release: Option<String>,
    /// The host's time less the guest's, in the middle of what both recordings cover.
    pub offset_ns: i64,
    /// How much faster the host's clock is, in billionths.
    pub drift_ppb: i64,
    /// No instant is off by more than this.
    pub error_ns: i64,
    /// How many times the host shows the guest's CPUs away, each of which agrees with the guest's events.
    pub agreeing: u64,
    /// Where the part of the guest's recording begins that the host's covers, in the guest's time.
    pub start_ns: i64,
    /// Where it ends.
    pub end_ns: i64,
    /// The threads of the host that are the guest's CPUs.
    pub vcpus: Vec<Vcpu>,
    /// What delayed these threads, by cause and culprit, the longest delay first.
    pub delays: Vec<HostDelay>,
}

/// A thread of the host that is a CPU of the guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Vcpu {
    /// The guest's CPU.
    pub cpu: u32,
    /// The thread.
    pub tid: i32,
    /// Its name.
    pub comm: String,
}

/// What delayed the threads of the guest's CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostDelay {
    /// The cause code, by the host's ledger.
    pub cause: String,
    /// The culprit on the host; null where there is none.
    pub by: Option<By>,
    /// How long in all.
    pub total_ns: i64,
    /// How often.
    pub times: u64,
    /// How long at once.
    pub longest_ns: i64,
    /// Where in the guest's time the longest began.
    pub at_ns: i64,
    /// The guest's CPU that it delayed then.
    pub cpu: u32,
}

/// What the host did during a stolen entry of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostPart {
    /// The thread of the host: that of the guest's CPU, or the one that was to wake it.
    pub tid: i32,
    /// Its name.
    pub comm: String,
    /// What it did: `ran` (the emulator or the hypervisor took the time), `delayed` (it could not run), `asleep`, or
    /// `waker-delayed` (the thread that was to wake the guest's CPU could not run).
    pub state: String,
    /// The cause code of a delay, by the host's ledger; null otherwise.
    pub cause: Option<String>,
    /// The culprit on the host; null where there is none.
    pub by: Option<By>,
    /// Why the CPU was in the hypervisor (`kvm_exit`); null where that is not recorded.
    pub exit_reason: Option<String>,
    /// How long of the entry.
    pub ns: i64,
}

pub(super) fn host(host: &ledger::HostRecording) -> Host {
    Host {
        file: host.file.clone(),
        clock: host.trace.clock.clone(),
        kernel_release: host.trace.kernel_release.clone(),
        offset_ns: host.join.offset.0,
        drift_ppb: host.join.drift_ppb,
        error_ns: host.join.error.0,
        agreeing: host.join.agreeing,
        start_ns: host.join.covered.0.0,
        end_ns: host.join.covered.1.0,
        vcpus: (host.vcpus.iter())
            .map(|vcpu| Vcpu { cpu: vcpu.cpu.0, tid: vcpu.tid.0, comm: vcpu.comm.to_string() })
            .collect(),
        delays: host.delays.iter().map(delay).collect(),
    }
}

fn delay(delay: &ledger::HostDelay) -> HostDelay {
    HostDelay {
        cause: delay.cause.code().to_owned(),
        by: delay.by.map(by),
        total_ns: delay.total.0,
        times: delay.times,
        longest_ns: delay.longest.0,
        at_ns: delay.at.0,
        cpu: delay.vcpu.cpu.0,
    }
}

/// The parts of one entry of a ledger.
pub(super) fn parts(parts: &[ledger::HostPart], segment: usize) -> Vec<HostPart> {
    let of_segment = parts.iter().filter(|part| part.segment == segment);
    of_segment
        .map(|part| {
            let delay = part.state.delay();
            HostPart {
                tid: part.thread.0.0,
                comm: part.thread.1.to_string(),
                state: part.state.name().to_owned(),
                cause: delay.map(|(cause, _)| cause.code().to_owned()),
                by: delay.and_then(|(_, culprit)| culprit).map(by),
                exit_reason: part.exit.clone(),
                ns: part.time.0,
            }
        })
        .collect()
}
