//! What threads asked of the scheduler and did not get, and limits that they met.

use whylate_base::{Comm, Cpu, Ns, Policy, Priority, Tid};

/// Every SCHED_OTHER thread waits for shorter times behind a real-time one.
pub(crate) const STUCK: Ns = Ns::from_ms(1);

/// A thread pinned itself to CPUs while it was SCHED_OTHER.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinnedFair {
    pub(crate) at: Ns,
    /// When it asked for a real-time policy after that, or was seen with one; `None` where it never did.
    pub(crate) until: Option<Ns>,
}

impl PinnedFair {
    /// True when it was pinned and had not yet asked for more, at the beginning or the end of `from..to`.
    pub(crate) fn covers(&self, from: Ns, to: Ns) -> bool {
        self.at < to && self.until.is_none_or(|until| from < until)
    }
}

/// The kernel refused a real-time policy or priority.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyRefusal {
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// The thread's name then.
    pub(crate) comm: Comm,
    /// The thread that called for it, where that is another one.
    pub(crate) by: Option<Tid>,
    /// The call's name.
    pub(crate) call: &'static str,
    /// What it asked for, where its arguments show it.
    pub(crate) policy: Option<Policy>,
    /// SCHED_DEADLINE did not find room (EBUSY); else it is not permitted (EPERM).
    pub(crate) no_room: bool,
    /// How often.
    pub(crate) times: u32,
}

/// A thread has a real-time policy that does not pass to the threads it starts (SCHED_RESET_ON_FORK, `sched(7)`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResetOnFork {
    /// When and where it was given that.
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    pub(crate) by: Tid,
    /// Its name then.
    pub(crate) comm: Comm,
    pub(crate) policy: Policy,
}

/// A real-time thread ran for longer, without sleeping, than RLIMIT_RTTIME lets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RtOverrun {
    pub(crate) tid: Tid,
    /// The thread's name and its own priority then.
    pub(crate) comm: Comm,
    pub(crate) priority: Priority,
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// Killed (the hard limit), rather than warned by SIGXCPU (the soft one).
    pub(crate) killed: bool,
    /// How long it had not slept then.
    pub(crate) awake: Ns,
    /// True when its beginning was seen.
    pub(crate) whole: bool,
    /// When it asked for a policy that is not real-time, before it slept.
    pub(crate) steps_down: Option<Ns>,
}
