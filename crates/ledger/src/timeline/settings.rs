//! What threads asked of the scheduler and did not get, and limits that they met.

use whylate_base::{Cpu, Ns, Policy, Tid};

/// The kernel refused a real-time policy or priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// The call's name.
    pub(crate) call: &'static str,
    /// What it asked for, where its arguments show it.
    pub(crate) policy: Option<Policy>,
    /// SCHED_DEADLINE did not find room (EBUSY); else it is not permitted (EPERM).
    pub(crate) no_room: bool,
    /// How often.
    pub(crate) times: u32,
}

/// A real-time thread ran for longer, without sleeping, than RLIMIT_RTTIME lets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RtOverrun {
    pub(crate) tid: Tid,
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// Killed (the hard limit), rather than warned by SIGXCPU (the soft one).
    pub(crate) killed: bool,
    /// How long it had not slept then.
    pub(crate) awake: Ns,
    /// True when its beginning was seen.
    pub(crate) whole: bool,
}
