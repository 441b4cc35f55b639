//! Scheduling policy and priority, in the kernel's numbers and in the user's.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kernel's internal priority, as `sched_switch` prints it: lower runs first.
///
/// -1 is SCHED_DEADLINE, 0 to 98 are real-time (99 minus the user's priority; the
/// stop class also shows 0), 99 is a real-time task of priority 0 that never runs,
/// 100 to 139 are SCHED_OTHER by nice value. See `include/linux/sched/prio.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priority(pub i32);

/// The scheduler class a priority belongs to, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SchedClass {
    /// SCHED_DEADLINE, and the deadline servers' own entities.
    Deadline,
    /// SCHED_FIFO and SCHED_RR.
    Realtime,
    /// SCHED_OTHER, SCHED_BATCH, SCHED_IDLE (and SCHED_EXT, which shares its numbers).
    Fair,
}

impl Priority {
    /// SCHED_OTHER at nice 0, the default.
    pub const DEFAULT: Priority = Priority(120);

    /// Unknown in the recording. It outranks no other priority.
    pub const UNKNOWN: Priority = Priority(i32::MAX);

    /// The kernel priority of a SCHED_FIFO or SCHED_RR thread of the user's priority 1 to 99.
    pub fn realtime(user: i32) -> Priority {
        Priority(99 - user)
    }

    /// The class this priority is scheduled in.
    pub fn class(self) -> SchedClass {
        match self.0 {
            ..0 => SchedClass::Deadline,
            0..100 => SchedClass::Realtime,
            _ => SchedClass::Fair,
        }
    }

    /// True for SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
    pub fn is_realtime(self) -> bool {
        self.class() != SchedClass::Fair
    }

    /// The user's real-time priority 1 to 99, if it is one.
    pub fn realtime_user(self) -> Option<i32> {
        (self.class() == SchedClass::Realtime).then(|| 99 - self.0)
    }

    /// The nice value -20 to 19, if it is a SCHED_OTHER priority.
    pub fn nice(self) -> Option<i32> {
        (self.class() == SchedClass::Fair && self != Priority::UNKNOWN).then(|| self.0 - 120)
    }

    /// True when this priority is served before `other`. Fair tasks share the CPU: none outranks another.
    pub fn outranks(self, other: Priority) -> bool {
        match (self.class(), other.class()) {
            (SchedClass::Realtime, SchedClass::Realtime) => self.0 < other.0,
            (mine, theirs) => mine < theirs,
        }
    }
}

/// `rt 50`, `deadline`, `nice 0`: the user's number, with the class that gives it its meaning.
impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class() {
            _ if *self == Priority::UNKNOWN => f.pad("priority unknown"),
            SchedClass::Deadline => f.pad("deadline"),
            SchedClass::Realtime => f.pad(&format!("rt {}", 99 - self.0)),
            SchedClass::Fair => f.pad(&format!("nice {}", self.0 - 120)),
        }
    }
}

/// A scheduling policy of `sched_setattr(2)`.
///
/// A trace's `sched_switch` shows only the class; whether a real-time thread is FIFO or
/// RR is known if the recording has it (see `Fact::Policy` of the events crate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// SCHED_OTHER (0).
    Other,
    /// SCHED_FIFO (1).
    Fifo,
    /// SCHED_RR (2).
    Rr,
    /// SCHED_BATCH (3).
    Batch,
    /// SCHED_IDLE (5).
    Idle,
    /// SCHED_DEADLINE (6).
    Deadline,
    /// SCHED_EXT (7).
    Ext,
}

impl Policy {
    /// From the number of `sched_getscheduler(2)`; the reset-on-fork flag must be masked off.
    pub fn from_raw(raw: u32) -> Option<Policy> {
        Some(match raw {
            0 => Policy::Other,
            1 => Policy::Fifo,
            2 => Policy::Rr,
            3 => Policy::Batch,
            5 => Policy::Idle,
            6 => Policy::Deadline,
            7 => Policy::Ext,
            _ => return None,
        })
    }

    /// The number of `sched_setscheduler(2)`.
    pub fn raw(self) -> u32 {
        match self {
            Policy::Other => 0,
            Policy::Fifo => 1,
            Policy::Rr => 2,
            Policy::Batch => 3,
            Policy::Idle => 5,
            Policy::Deadline => 6,
            Policy::Ext => 7,
        }
    }

    /// True for SCHED_FIFO, SCHED_RR and SCHED_DEADLINE.
    pub fn is_realtime(self) -> bool {
        matches!(self, Policy::Fifo | Policy::Rr | Policy::Deadline)
    }

    /// The short lower-case name used in reports and facts: `fifo`, `rr`, `other` ...
    pub fn name(self) -> &'static str {
        match self {
            Policy::Other => "other",
            Policy::Fifo => "fifo",
            Policy::Rr => "rr",
            Policy::Batch => "batch",
            Policy::Idle => "idle",
            Policy::Deadline => "deadline",
            Policy::Ext => "ext",
        }
    }

    /// The name of sched(7) and of the C headers: `SCHED_FIFO`.
    pub fn constant(self) -> &'static str {
        match self {
            Policy::Other => "SCHED_OTHER",
            Policy::Fifo => "SCHED_FIFO",
            Policy::Rr => "SCHED_RR",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::Deadline => "SCHED_DEADLINE",
            Policy::Ext => "SCHED_EXT",
        }
    }

    /// The policy of a [`Policy::name`].
    pub fn from_name(name: &str) -> Option<Policy> {
        (0..8).filter_map(Policy::from_raw).find(|policy| policy.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_and_user_numbers() {
        assert_eq!(Priority(98).realtime_user(), Some(1));
        assert_eq!(Priority::realtime(50), Priority(49));
        assert_eq!(Priority(120).nice(), Some(0));
        assert_eq!(Priority(-1).to_string(), "deadline");
        assert_eq!(Priority(49).to_string(), "rt 50");
    }

    #[test]
    fn who_goes_first() {
        let (deadline, rt99, rt1, nice0, nice19) =
            (Priority(-1), Priority(0), Priority(98), Priority(120), Priority(139));
        assert!(deadline.outranks(rt99));
        assert!(rt99.outranks(rt1));
        assert!(rt1.outranks(nice0));
        assert!(!nice0.outranks(nice19), "fair tasks take turns");
        assert!(!rt1.outranks(rt1));
    }

    #[test]
    fn policies_round_trip() {
        for raw in [0, 1, 2, 3, 5, 6, 7] {
            let policy = Policy::from_raw(raw).expect("known");
            assert_eq!(policy.raw(), raw);
            assert_eq!(Policy::from_name(policy.name()), Some(policy));
        }
        assert_eq!(Policy::from_raw(4), None);
    }
}
