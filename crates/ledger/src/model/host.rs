//! The host's side of a guest: what the host did with the threads that are the guest's CPUs.

use super::culprit::Culprit;
use crate::causes::Cause;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::TraceInfo;

/// A recording of the host, joined with that of its guest.
#[derive(Clone, Debug)]
pub struct HostRecording {
    /// The name of its file.
    pub file: String,
    /// What it is.
    pub trace: TraceInfo,
    /// How its clock was joined with the guest's.
    pub join: ClockJoin,
    /// The threads of the guest's CPUs, by CPU.
    pub vcpus: Vec<HostVcpu>,
    /// What delayed these threads while the guest was recorded, by cause and culprit, the longest delay first.
    pub delays: Vec<HostDelay>,
}

/// The relation of a guest's clock to its host's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockJoin {
    /// The host's time less the guest's, in the middle of what both recordings cover.
    pub offset: Ns,
    /// How much faster the host's clock is, in billionths.
    pub drift_ppb: i64,
    /// No instant is off by more than this.
    pub error: Ns,
    /// How many times the host shows the guest's CPUs away, each of which agrees.
    pub agreeing: u64,
    /// The part of the guest's recording that the host's covers, in the guest's time.
    pub covered: (Ns, Ns),
}

/// A guest's CPU as the host has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostVcpu {
    /// The guest's CPU.
    pub cpu: Cpu,
    /// Its thread on the host.
    pub tid: Tid,
    /// That thread's name.
    pub comm: Comm,
}

/// What delayed the threads of a guest's CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostDelay {
    /// Why, by the host's ledger.
    pub cause: Cause,
    /// The culprit on the host.
    pub by: Option<Culprit>,
    /// How long in all.
    pub total: Ns,
    /// How often.
    pub times: u64,
    /// How long at once.
    pub longest: Ns,
    /// Where in the guest's time the longest began.
    pub at: Ns,
    /// The guest's CPU that it delayed then.
    pub vcpu: HostVcpu,
}

/// What a guest's CPU was doing on the host for some time.
#[derive(Clone, Debug, PartialEq)]
pub struct HostStay {
    /// Where it begins, in the guest's time.
    pub from: Ns,
    /// Where it ends.
    pub to: Ns,
    /// The thread of the host: that of the guest's CPU, or the one that was to wake it.
    pub thread: (Tid, Comm),
    /// What it did.
    pub state: HostState,
    /// Why the CPU was in the hypervisor, where the host's recording shows that it was.
    pub exit: Option<String>,
}

/// What a thread of the host did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostState {
    /// It had a CPU of the host.
    Ran,
    /// It could not run, by the host's ledger.
    Delayed {
        /// Why.
        cause: Cause,
        /// The culprit on the host.
        by: Option<Culprit>,
        /// The CPU of the host.
        cpu: Cpu,
    },
    /// It slept: the guest's CPU was halted, or waited for another thread of the hypervisor.
    Asleep,
    /// The thread that was to wake the guest's CPU could not run.
    WakerDelayed {
        /// Why.
        cause: Cause,
        /// The culprit on the host.
        by: Option<Culprit>,
        /// The CPU of the host.
        cpu: Cpu,
    },
}

impl HostState {
    /// The stable name: `ran`, `delayed`, `asleep`, `waker-delayed`.
    pub fn name(self) -> &'static str {
        match self {
            HostState::Ran => "ran",
            HostState::Delayed { .. } => "delayed",
            HostState::Asleep => "asleep",
            HostState::WakerDelayed { .. } => "waker-delayed",
        }
    }

    /// Why, and the culprit, of a delay.
    pub fn delay(self) -> Option<(Cause, Option<Culprit>)> {
        match self {
            HostState::Delayed { cause, by, .. } | HostState::WakerDelayed { cause, by, .. } => {
                Some((cause, by))
            }
            HostState::Ran | HostState::Asleep => None,
        }
    }
}

/// What the host did during one segment of an activation, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPart {
    /// The segment, by its number in the ledger.
    pub segment: usize,
    /// The thread of the host.
    pub thread: (Tid, Comm),
    /// What it did.
    pub state: HostState,
    /// Why the CPU was in the hypervisor, where that is known.
    pub exit: Option<String>,
    /// How long of the segment.
    pub time: Ns,
    /// Where the longest such interval begins.
    pub at: Ns,
}
