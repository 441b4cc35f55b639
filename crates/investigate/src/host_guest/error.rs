//! Why a host's recording was not joined with its guest's.

use std::path::PathBuf;
use whylate_base::{Cpu, Ns, Tid};
use whylate_intake::OpenError;

/// Why a host's recording was not joined with its guest's. A wrong join would accuse threads that delayed nothing.
#[derive(Debug, thiserror::Error)]
pub enum HostJoinError {
    /// The host's recording cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// One file was given twice.
    #[error("{path} is the guest's recording as well: give that of its host with --host")]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// There is no sched_switch.
    #[error(
        "{path} has no sched_switch events: it does not show when the threads of the guest's CPUs ran; record sched:sched_switch on the host"
    )]
    NoSwitches {
        /// The host's recording.
        path: PathBuf,
    },
    /// No thread's name is that of a guest's CPU.
    #[error(
        "no thread in {path} is called as the CPUs of a guest are (`CPU 0/KVM`, `CPU 0/TCG`, `vcpu0`, `fc_vcpu 0`): it is not a \
         recording of this guest's host, or the threads have other names; then give them with --vcpu TID[,TID...]"
    )]
    NoVcpus {
        /// The host's recording.
        path: PathBuf,
    },
    /// A chosen thread has no events.
    #[error("{path} shows no thread {tid} (--vcpu)")]
    NoThread {
        /// The host's recording.
        path: PathBuf,
        /// The thread.
        tid: Tid,
    },
    /// One thread emulates all CPUs.
    #[error(
        "{path} has the guest's CPUs in one thread (`ALL CPUs/TCG`): its time is the emulator's own and cannot be joined with \
         the host's; let the guest run in the host's time (QEMU: -accel tcg,thread=multi, whylate lab: --time free)"
    )]
    OneThread {
        /// The host's recording.
        path: PathBuf,
    },
    /// A CPU of the guest has no thread.
    #[error(
        "{path} has no thread for CPU {cpu} of the guest: give the threads of all its CPUs in order with --vcpu TID[,TID...]"
    )]
    NoThreadOfCpu {
        /// The host's recording.
        path: PathBuf,
        /// The guest's CPU.
        cpu: Cpu,
    },
    /// Two guests of the host fit.
    #[error(
        "{path} has several guests whose CPUs fit this recording: choose the threads of its CPUs with --vcpu TID[,TID...]"
    )]
    SeveralGuests {
        /// The host's recording.
        path: PathBuf,
    },
    /// The clocks do not join.
    #[error("cannot join the clocks of {path} and of the guest's recording: {why}")]
    Join {
        /// The host's recording.
        path: PathBuf,
        /// Why not.
        why: JoinError,
    },
}

/// Why two clocks were not joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A recording has too little.
    #[error(
        "only {times} times the host shows the guest's CPUs away, and {needed} are needed: record both for longer, and at the \
         same time"
    )]
    TooFew {
        /// How many there are.
        times: u64,
        /// How many are needed.
        needed: u64,
    },
    /// No offset and drift agree with the events.
    #[error(
        "whatever the offset, the guest has events at instants at which the host shows its CPUs away: the recordings are of \
         different times or guests, overlap by less than half, or a clock of one was set or ran unevenly"
    )]
    NoOffset,
    /// Several do.
    #[error(
        "several offsets agree with the events, so none is certain: record both for longer, or with more load in the guest and \
         on the host"
    )]
    Ambiguous,
    /// The error is too large.
    #[error(
        "the offset is certain within {error} only, and {most} is the most for a charge: record both for longer"
    )]
    TooWide {
        /// The error that is left.
        error: Ns,
        /// The largest that is accepted.
        most: Ns,
    },
}
