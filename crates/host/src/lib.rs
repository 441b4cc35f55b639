//! The state of a machine, as the kernel and the distribution show it in files.
//!
//! ```text
//! FsRoot    where the files come from: this machine, a captured root, an archive, memory
//!  └> Snapshot   everything the checks ask about, read once, as plain data
//!      └> Reading<T>   a value with its path, or why there is none
//! ```
//!
//! Kernels differ in what they have, machines in what they let one see. Therefore every value is a
//! [`Reading`], and "absent", "denied", "hidden" and "not collected" stay apart down to the answer.
//! No process is started, nothing is written, and neither the environment nor the command line of any process
//! is read.

mod cgroups;
mod clocks;
mod cpus;
mod dmesg;
mod error;
mod fs_root;
mod irqs;
mod kernel;
mod limits;
mod memory;
mod path;
mod platform;
mod priority_gate;
mod reading;
mod redact;
mod run_time;
mod sched;
mod scheduling_rights;
mod snapshot;
mod systemd;
mod table;
mod text;
mod thread_stat;
mod thread_status;
mod threads;
mod tracing;

pub use cgroups::{Cgroup, CgroupVersion, Cgroups};
pub use clocks::{Clocks, Clocksource};
pub use cpus::{
    Cache, CpuState, Cpufreq, Cpus, IdleState, NO_LATENCY_REQUEST, Node, NodeMemory, Throttling, Topology,
};
pub use dmesg::Dmesg;
pub use error::HostError;
pub use fs_root::{Capture, FsRoot};
pub use irqs::{Balancer, Irq, IrqRow, Irqs};
pub use kernel::{
    Cmdline, Config, Installed, Kernel, KernelVersion, Preempt, parse_module_taints, rt_group_sched,
};
pub use limits::{LimitLine, Limits, LimitsFile, OwnLimits, ProcessLimit, User};
pub use memory::{HugePages, Memory, Swap, Vm};
pub use path::normal_path;
pub use platform::{Container, Dmi, FrequencyDevice, Hypervisor, PciDevice, Platform};
pub use priority_gate::{PriorityGate, PriorityRequest};
pub use reading::{Reading, Unread, Why};
pub use redact::Redaction;
pub use run_time::RunTime;
pub use sched::{Sched, Server, Watchdogs};
pub use scheduling_rights::{RtGroup, SchedulingRights};
pub use snapshot::Snapshot;
pub use systemd::{Systemd, Unit};
pub use text::{BracketedChoice, FromText, Mask, Words};
pub use thread_stat::ThreadStat;
pub use thread_status::status_value;
pub use threads::{STARVATION_GUARDS, Thread, ThreadUsage, Threads};
pub use tracing::{TraceInstance, Tracing};
