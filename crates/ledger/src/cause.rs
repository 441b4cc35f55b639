//! The cause codes: stable names for what makes a thread late.

use std::fmt;

/// Why time passed. The codes are stable and kebab-case; each has a page, [`Cause::page`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A thread of higher real-time priority held the CPU.
    HigherPriorityTask,
    /// A thread of the same real-time priority held the CPU.
    EqualPriorityTask,
    /// A SCHED_DEADLINE thread held the CPU.
    DeadlineTask,
    /// The stop class (migration/N) held the CPU.
    StopTask,
    /// RT bandwidth control kept runnable RT threads off the CPU.
    RtThrottled,
    /// The same, while RT use was clearly under the limit.
    CoarseClockThrottled,
    /// The kernel's fair server ran SCHED_OTHER threads in front.
    FairServer,
    /// The kernel's ext server ran SCHED_EXT threads in front.
    ExtServer,
    /// A hard interrupt handler ran.
    Irq,
    /// A softirq ran.
    Softirq,
    /// A non-maskable interrupt handler ran.
    Nmi,
    /// A lower-priority task had interrupts disabled.
    IrqsDisabled,
    /// A lower-priority task kept the CPU after the wake-up.
    PreemptionDisabled,
    /// From a timer's expiry to its handler.
    TimerLate,
    /// The slack a SCHED_OTHER thread's timers are given.
    TimerSlack,
    /// The CPU came out of an idle state.
    IdleExit,
    /// The kernel's own path from wake-up to running: choosing the thread, switching to it.
    Dispatch,
    /// Queued behind another task while an allowed CPU was idle.
    WakePlacement,
    /// Moved to another CPU, late.
    Migration,
    /// Waited for a lock whose owner was itself kept off the CPU.
    LockInversion,
    /// Waited for a lock whose owner was running.
    LockWait,
    /// The kernel handled its page fault.
    PageFault,
    /// Waited for a device.
    BlockIo,
    /// Its own execution.
    OwnWork,
    /// It sleeps relative to now, and so drifts.
    RelativeSleep,
    /// A SCHED_OTHER thread waited its turn.
    FairQueue,
    /// The CPU controller's quota was used up.
    CgroupQuota,
    /// It pinned itself to a busy CPU before raising its priority.
    PinnedBeforePriority,
    /// Runnable to the end of the trace and never run.
    Starved,
    /// Nothing at all happened on the CPU, not even its tick.
    Stolen,
    /// Events were lost here.
    TraceLoss,
    /// None of the above.
    Unexplained,
}

impl Cause {
    /// Every cause, in the order of the documentation.
    pub const ALL: [Cause; 32] = [
        Cause::HigherPriorityTask,
        Cause::EqualPriorityTask,
        Cause::DeadlineTask,
        Cause::StopTask,
        Cause::RtThrottled,
        Cause::CoarseClockThrottled,
        Cause::FairServer,
        Cause::ExtServer,
        Cause::Irq,
        Cause::Softirq,
        Cause::Nmi,
        Cause::IrqsDisabled,
        Cause::PreemptionDisabled,
        Cause::TimerLate,
        Cause::TimerSlack,
        Cause::IdleExit,
        Cause::Dispatch,
        Cause::WakePlacement,
        Cause::Migration,
        Cause::LockInversion,
        Cause::LockWait,
        Cause::PageFault,
        Cause::BlockIo,
        Cause::OwnWork,
        Cause::RelativeSleep,
        Cause::FairQueue,
        Cause::CgroupQuota,
        Cause::PinnedBeforePriority,
        Cause::Starved,
        Cause::Stolen,
        Cause::TraceLoss,
        Cause::Unexplained,
    ];

    /// The stable code, such as `rt-throttled`.
    pub fn code(self) -> &'static str {
        match self {
            Cause::HigherPriorityTask => "higher-priority-task",
            Cause::EqualPriorityTask => "equal-priority-task",
            Cause::DeadlineTask => "deadline-task",
            Cause::StopTask => "stop-task",
            Cause::RtThrottled => "rt-throttled",
            Cause::CoarseClockThrottled => "coarse-clock-throttled",
            Cause::FairServer => "fair-server",
            Cause::ExtServer => "ext-server",
            Cause::Irq => "irq",
            Cause::Softirq => "softirq",
            Cause::Nmi => "nmi",
            Cause::IrqsDisabled => "irqs-disabled",
            Cause::PreemptionDisabled => "preemption-disabled",
            Cause::TimerLate => "timer-late",
            Cause::TimerSlack => "timer-slack",
            Cause::IdleExit => "idle-exit",
            Cause::Dispatch => "dispatch",
            Cause::WakePlacement => "wake-placement",
            Cause::Migration => "migration",
            Cause::LockInversion => "lock-inversion",
            Cause::LockWait => "lock-wait",
            Cause::PageFault => "page-fault",
            Cause::BlockIo => "block-io",
            Cause::OwnWork => "own-work",
            Cause::RelativeSleep => "relative-sleep",
            Cause::FairQueue => "fair-queue",
            Cause::CgroupQuota => "cgroup-quota",
            Cause::PinnedBeforePriority => "pinned-before-priority",
            Cause::Starved => "starved",
            Cause::Stolen => "stolen",
            Cause::TraceLoss => "trace-loss",
            Cause::Unexplained => "unexplained",
        }
    }

    /// The cause's page: what it means, how it is seen, what to do. Also in `docs/causes/` of this crate.
    pub fn page(self) -> &'static str {
        macro_rules! page {
            ($code:literal) => {
                include_str!(concat!("../docs/causes/", $code, ".md"))
            };
        }
        match self {
            Cause::HigherPriorityTask => page!("higher-priority-task"),
            Cause::EqualPriorityTask => page!("equal-priority-task"),
            Cause::DeadlineTask => page!("deadline-task"),
            Cause::StopTask => page!("stop-task"),
            Cause::RtThrottled => page!("rt-throttled"),
            Cause::CoarseClockThrottled => page!("coarse-clock-throttled"),
            Cause::FairServer => page!("fair-server"),
            Cause::ExtServer => page!("ext-server"),
            Cause::Irq => page!("irq"),
            Cause::Softirq => page!("softirq"),
            Cause::Nmi => page!("nmi"),
            Cause::IrqsDisabled => page!("irqs-disabled"),
            Cause::PreemptionDisabled => page!("preemption-disabled"),
            Cause::TimerLate => page!("timer-late"),
            Cause::TimerSlack => page!("timer-slack"),
            Cause::IdleExit => page!("idle-exit"),
            Cause::Dispatch => page!("dispatch"),
            Cause::WakePlacement => page!("wake-placement"),
            Cause::Migration => page!("migration"),
            Cause::LockInversion => page!("lock-inversion"),
            Cause::LockWait => page!("lock-wait"),
            Cause::PageFault => page!("page-fault"),
            Cause::BlockIo => page!("block-io"),
            Cause::OwnWork => page!("own-work"),
            Cause::RelativeSleep => page!("relative-sleep"),
            Cause::FairQueue => page!("fair-queue"),
            Cause::CgroupQuota => page!("cgroup-quota"),
            Cause::PinnedBeforePriority => page!("pinned-before-priority"),
            Cause::Starved => page!("starved"),
            Cause::Stolen => page!("stolen"),
            Cause::TraceLoss => page!("trace-loss"),
            Cause::Unexplained => page!("unexplained"),
        }
    }

    /// The cause of a [`Cause::code`].
    pub fn from_code(code: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.code() == code)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_page() {
        for cause in Cause::ALL {
            assert_eq!(Cause::from_code(cause.code()), Some(cause));
            assert!(cause.page().starts_with(&format!("# {cause}\n")), "{cause}");
        }
    }
}
