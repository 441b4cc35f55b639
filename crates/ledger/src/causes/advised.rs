//! What advice is about, and the settings that it may name.

mod actions;

use crate::model::culprit::Culprit;
use crate::timeline::housekeeping::{is_kworker, is_of_kernel, is_of_one_cpu};
use crate::timeline::sleeps::{Asked, Itself, NoMutex};
use whylate_base::{Action, AdvisedFix, Comm, Cpu, CpuSet, Ns, Priority, SchedClass, Tid, UnitAction};
use whylate_events::Symbol;

/// What to do about a trace whose clock counts ticks.
pub(crate) const FINER_CLOCK: &str = "trace with a finer clock: echo mono > trace_clock; if it is as coarse, the kernel lacks a driver for \
                           a counter of this machine (CONFIG_GENERIC_SCHED_CLOCK, sched_clock_register)";

/// Why no setting makes a change to the late thread's program.
pub(crate) const ITS_PROGRAM: &str = "the program of the late thread is to be changed";
/// The same of the program that delayed it.
pub(crate) const THEIR_PROGRAM: &str = "the program that delayed it is to be changed";
/// What to do about a lock to which a program cannot give priority inheritance.
pub(crate) const OF_C_LIBRARY: &str = "if it is a lock of the C library (malloc, dlopen, stdio, pthread_once, a local static of C++), which has none, leave out the call in the loop that takes it";
/// Why no setting makes another recording.
pub(crate) const RECORD: &str =
    "it is another recording or measurement, which changes nothing on the machine";
/// Why no setting makes the machine another one.
pub(crate) const MACHINE: &str = "it is about the hardware, its firmware or the hypervisor";
/// What keeps a hypervisor from taking the CPUs of a guest.
pub(crate) const EXCLUSIVE_HOST_CPUS: &str =
    "on a guest: give its CPUs exclusive host CPUs, and look for steal time in /proc/stat";
/// Why no setting of this machine changes what its peer does.
pub(crate) const PEER: &str =
    "it is a setting of the other machine, not of the one whose recording is explained";
/// Why no setting of the guest changes what its host does.
pub(crate) const HOST: &str = "it is a setting of the host, not of the machine whose recording is explained";
/// Why no setting makes a part of the kernel another one.
pub(crate) const KERNEL: &str = "another kernel is to be installed, or its code changed";
/// Why no setting gives urgent packets a queue of their own.
pub(crate) const DEVICE_QUEUE: &str =
    "queues and flow rules are those of a device and its driver, which a recording does not show";
/// Why there is no setting for the CPUs of workqueues.
pub(crate) const WORKQUEUE_CPUS: &str =
    "the mask depends on which CPUs are for real-time threads, which a recording does not show";
/// Why no setting replaces a workqueue.
pub(crate) const WORK_ITEM: &str = "the driver or subsystem that queues the work item decides it";
/// Why there is no setting where the thread is not known by name.
const UNNAMED: &str = "the recording does not name the thread";

/// The highest real-time priority (sched(7)).
const HIGHEST: u32 = 99;
/// A thread that runs for so long without a sleep is no real-time thread.
const LONG_RUN: Ns = Ns::from_ms(50);

/// What advice is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Advised<'a> {
    /// What delayed the late thread.
    pub(crate) by: Option<&'a Culprit>,
    /// Its own priority, where it ran with one that it had inherited.
    pub(crate) by_own: Option<Priority>,
    /// The priority that the late thread had.
    pub(crate) priority: Option<Priority>,
    /// The late thread.
    pub(crate) late: Option<(Tid, Comm)>,
    /// The CPU on which it happened.
    pub(crate) cpu: Option<Cpu>,
    /// All CPUs on which the late thread was seen to run: what goes to one of them is in its way again.
    pub(crate) late_cpus: Option<&'a CpuSet>,
    /// CPUs that the late thread may use, and that were idle while it waited.
    pub(crate) idle: Option<&'a CpuSet>,
    /// All that delayed the late thread by the same cause, the worst first.
    pub(crate) all_by: &'a [Culprit],
    /// For how long the culprit delayed it.
    pub(crate) charged: Ns,
    /// For how long the late thread itself ran meanwhile.
    pub(crate) own_time: Ns,
    /// What nearly always raised the culprit, a softirq, or armed the timers of one, the CPU's own timer interrupt.
    pub(crate) raised_by: Option<&'a Culprit>,
    /// The thread that was to wake the late thread, and waited for the CPU that the culprit had.
    pub(crate) carrier: Option<&'a Culprit>,
    /// The late thread woke the culprit, itself or by others that it woke.
    pub(crate) called: bool,
    /// The thread that was to answer the late thread, the child that it waited for or the program that traces it, and the one that had
    /// the CPU for which that waited.
    pub(crate) answerer: Option<(&'a Culprit, Option<&'a Culprit>)>,
    /// What that thread itself did in place of its answer.
    pub(crate) answerer_itself: Option<Itself>,
    /// How it asked for the answer that it waited for.
    pub(crate) asked: Option<Asked>,
    /// The lock is the kernel's, and not the program's.
    pub(crate) kernel_lock: bool,
    /// What the lock is that is no mutex of pthreads.
    pub(crate) no_mutex: Option<NoMutex>,
    /// The thread that waited for that lock before.
    pub(crate) behind_waiter: Option<&'a Culprit>,
    /// The call in which it slept, where that is known by name.
    pub(crate) call: Option<&'static str>,
    /// The system calls in which it waited for a device, and how long.
    pub(crate) device_calls: &'a [(&'static str, Ns)],
    /// Those of them that write do so with whole pages.
    pub(crate) whole_pages: bool,
    /// Its usual work alone takes longer than its deadline.
    pub(crate) usually_late: bool,
    /// The response of the late thread grows from one activation to the next.
    pub(crate) grows: bool,
    /// What is charged to it is mostly its job before, which it was still at.
    pub(crate) catches_up: bool,
    /// It slept in the handler of a signal.
    pub(crate) in_handler: bool,
    /// The recording has system calls.
    pub(crate) shows_calls: bool,
    /// It has `sched_waking`.
    pub(crate) shows_wakings: bool,
    /// The work item in which the culprit, a kworker, let it go on, and the thread that had queued that.
    pub(crate) work_item: Option<(Symbol, Option<&'a Culprit>)>,
    /// The culprit went on though it was to yield, and had preemption enabled.
    pub(crate) goes_on: bool,
    /// Most of its own wait was for a grace period of RCU.
    pub(crate) grace_period: bool,
    /// The recording has all the events that the ledger can use.
    pub(crate) recorded_all: bool,
    /// Most of its page faults were writes to pages that were there.
    pub(crate) write_protected: bool,
    /// A fork of its process write-protected them.
    pub(crate) forked: bool,
    /// It stopped for the program that traces it.
    pub(crate) is_traced: bool,
    /// The signal by which it stopped.
    pub(crate) stopped_by: Option<&'static str>,
    /// The softirq that was left to a thread.
    pub(crate) deferred: Option<u32>,
    /// The culprit is a thread of the late thread's process.
    pub(crate) same_process: bool,
    /// One of both forked the other, or the same thread both: no service has the culprit alone.
    pub(crate) is_kin: bool,
    /// The thread that forked the culprit, a process, with its priority.
    pub(crate) inherited: Option<Culprit>,
    /// The culprit, where it began and ended within a short time: its id is of no use any more.
    pub(crate) brief: Option<Culprit>,
    /// Its process has locked its memory (mlockall(2)).
    pub(crate) memory_locked: bool,
    /// The owner of the lock slept for most of the time that is charged.
    pub(crate) owner_slept: bool,
    /// The owner of the lock that the late thread waited for.
    pub(crate) lock_owner: Option<&'a Culprit>,
    /// The confidence in the cause is low.
    pub(crate) in_doubt: bool,
}

impl<'a> Advised<'a> {
    /// Advice about the recording or the machine as a whole.
    pub(crate) fn general() -> Advised<'a> {
        Advised::default()
    }

    /// Advice about a culprit, where no thread is late.
    pub(crate) fn about(by: Option<&'a Culprit>, cpu: Option<Cpu>) -> Advised<'a> {
        Advised { by, cpu, ..Advised::default() }
    }

    /// Advice about what raised the culprit, in its place.
    pub(crate) fn about_raiser(&self) -> Option<Advised<'a>> {
        self.raised_by.map(|by| Advised { by: Some(by), by_own: None, raised_by: None, ..*self })
    }

    /// The culprit in words.
    pub(crate) fn the_culprit(&self) -> String {
        self.by.map_or_else(|| "the other thread".to_owned(), |by| by.raised_from(self.by_own))
    }

    /// The CPU as a list; `None`: not known.
    pub(crate) fn cpu_list(&self) -> Option<String> {
        self.cpu.and_then(Cpu::known).map(|cpu| cpu.to_string())
    }

    /// True where the late thread runs on several CPUs.
    pub(crate) fn late_migrates(&self) -> bool {
        self.late_cpus.is_some_and(|cpus| cpus.iter().nth(1).is_some())
    }

    /// True where the culprit kept the CPU from the late thread for so long that it seems never to sleep.
    pub(crate) fn culprit_does_not_sleep(&self) -> bool {
        self.charged >= LONG_RUN
    }

    /// True where the culprit is a thread that runs before the late thread by its priority.
    pub(crate) fn culprit_outranks_late(&self) -> bool {
        match (self.by, self.priority) {
            (Some(Culprit::Task { priority, .. }), Some(late)) if late != Priority::UNKNOWN => {
                priority.outranks(late)
            }
            _ => false,
        }
    }

    /// True where the late thread has no real-time policy.
    pub(crate) fn late_is_fair(&self) -> bool {
        self.late_priority() == Some(0)
    }

    /// True where no real-time priority is above that of the late thread.
    pub(crate) fn is_at_the_top(&self) -> bool {
        self.late_priority() == Some(HIGHEST)
    }

    /// The user's priority of the late thread, 0 where it has none.
    fn late_priority(&self) -> Option<u32> {
        let priority = self.priority.filter(|priority| *priority != Priority::UNKNOWN)?;
        match priority.class() {
            SchedClass::Fair => Some(0),
            _ => priority.realtime_user().and_then(|user| u32::try_from(user).ok()),
        }
    }

    /// True where the culprit is a thread of the kernel that belongs to one CPU.
    fn culprit_is_of_one_cpu(&self) -> bool {
        /// Those with a CPU behind the slash, as threads of programs have it, too (kernel/smpboot.c, kernel/stop_machine.c,
        /// kernel/workqueue.c, kernel/kthread.c).
        const PER_CPU: [&str; 10] = [
            "migration",
            "ksoftirqd",
            "ktimers",
            "ktimersoftd",
            "rcuc",
            "cpuhp",
            "irq_work",
            "kworker",
            "backlog_napi",
            "idle_inject",
        ];
        let Some(Culprit::Task { comm, .. }) = self.by else { return false };
        let name = comm.to_string();
        is_of_one_cpu(&name) && name.split_once('/').is_some_and(|(name, _)| PER_CPU.contains(&name))
    }

    /// True where the culprit is the late thread itself.
    pub(crate) fn is_itself(&self) -> bool {
        match (self.by, &self.late) {
            (Some(Culprit::Task { tid, .. }), Some((late, _))) => tid == late,
            _ => false,
        }
    }

    /// True of the hard interrupt whose own thread was late.
    pub(crate) fn is_own_handler(&self) -> bool {
        self.by.zip(self.late.as_ref()).is_some_and(|(by, (_, comm))| by.is_irq_of_thread(comm.as_str()))
    }

    /// True where the culprit is a worker of the kernel's workqueues.
    pub(crate) fn culprit_is_kworker(&self) -> bool {
        matches!(self.by, Some(Culprit::Task { comm, .. }) if is_kworker(comm.as_str()))
    }

    /// True where the culprit is a thread of the kernel, which no service starts.
    pub(crate) fn culprit_is_of_kernel(&self) -> bool {
        matches!(self.by, Some(Culprit::Task { comm, .. }) if is_of_kernel(comm.as_str()))
    }
}

/// Fixes that no setting makes, all for one reason.
pub(crate) fn all_by_hand(reason: &str, lines: &[&str]) -> Vec<AdvisedFix> {
    lines.iter().map(|line| AdvisedFix::by_hand(*line, reason)).collect()
}

/// `whylate guard` runs, by the unit of whylate's packages.
pub(crate) fn run_guard() -> Action {
    let unit = Some("whylate-guard.service".to_owned());
    Action::Unit { set: vec![UnitAction { unit, runs: Some(true), ..UnitAction::default() }] }
}

/// RT throttling is off.
pub(crate) fn throttling_off() -> Action {
    Action::sysctl("kernel.sched_rt_runtime_us", "-1")
}

/// A deadline server (`kernel/sched/debug.c`) is off on that CPU.
pub(crate) fn server_off(server: &str, of: &Advised<'_>) -> Action {
    match of.cpu_list() {
        Some(cpu) => Action::tunable(format!("/sys/kernel/debug/sched/{server}/cpu{cpu}/runtime"), "0"),
        None => Action::by_hand("the recording does not show on which CPU it happened"),
    }
}
