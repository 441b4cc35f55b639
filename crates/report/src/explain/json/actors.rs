//! What several parts of the document have: threads, interrupts and softirqs, how a thread is scheduled, distributions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whylate_base::{Priority, SchedClass};
use whylate_ledger as ledger;

/// How a thread is scheduled, in the numbers of `sched_getparam(2)` and `chrt(1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// The scheduler class; null where it was not recorded.
    pub class: Option<Class>,
    /// The user's priority: 1 (weakest) to 99 (strongest) in class `realtime`, 0 in the
    /// other classes. (The kernel's own number, as `sched_switch` prints it, is 99 minus
    /// this.) Null where it was not recorded.
    pub priority: Option<i32>,
    /// The nice value, -20 to 19, in class `fair`; null in the others.
    pub nice: Option<i32>,
}

/// A scheduler class, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// SCHED_DEADLINE, and the kernel's deadline servers.
    Deadline,
    /// SCHED_FIFO and SCHED_RR; the stop class shows as priority 99.
    Realtime,
    /// SCHED_OTHER, SCHED_BATCH, SCHED_IDLE and SCHED_EXT.
    Fair,
}

/// A distribution. Minimum and maximum are exact, percentiles within 0.4 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The least, in nanoseconds.
    pub min: i64,
    /// The median, in nanoseconds.
    pub p50: i64,
    /// The 99th percentile, in nanoseconds.
    pub p99: i64,
    /// The most, in nanoseconds.
    pub max: i64,
}

/// A thread, an interrupt or a softirq: told apart by the keys `tid`, `irq`, `softirq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum By {
    /// A thread.
    Task {
        /// Its id.
        tid: i32,
        /// Its name.
        comm: String,
        /// Its class, priority and nice value while it did, with inheritance.
        #[serde(flatten)]
        rank: Rank,
    },
    /// A softirq.
    Softirq {
        /// Its number.
        softirq: u32,
        /// HI, TIMER, NET_TX ... as `/proc/softirqs` has it.
        name: String,
    },
    /// A hard interrupt.
    Irq {
        /// The line; null for an architecture vector such as the local timer.
        irq: Option<u32>,
        /// Its name.
        name: String,
    },
}

pub(super) fn rank(priority: Priority) -> Rank {
    if priority == Priority::UNKNOWN {
        return Rank { class: None, priority: None, nice: None };
    }
    Rank {
        class: Some(match priority.class() {
            SchedClass::Deadline => Class::Deadline,
            SchedClass::Realtime => Class::Realtime,
            SchedClass::Fair => Class::Fair,
        }),
        priority: Some(priority.realtime_user().unwrap_or(0)),
        nice: priority.nice(),
    }
}

pub(super) fn spread(spread: ledger::Spread) -> Spread {
    Spread { min: spread.min.0, p50: spread.p50.0, p99: spread.p99.0, max: spread.max.0 }
}

pub(super) fn by(culprit: ledger::Culprit) -> By {
    match culprit {
        ledger::Culprit::Task { tid, comm, priority } => {
            By::Task { tid: tid.0, comm: comm.to_string(), rank: rank(priority) }
        }
        ledger::Culprit::Irq { irq, name } => By::Irq { irq, name: name.to_string() },
        ledger::Culprit::Softirq { vec } => softirq(vec),
    }
}

pub(super) fn softirq(vec: u32) -> By {
    By::Softirq { softirq: vec, name: ledger::softirq_name(vec).to_owned() }
}
