//! The form that each cause's file fills in, and what its sentences are made from.
//!
//! Nothing here names a cause: the registry above these files makes that type from them.

use super::advised::Advised;
use crate::growth::Growth;
use crate::model::culprit::Culprit;
use crate::timeline::sleeps::Asked;
use crate::timeline::spent::Within;
use crate::timeline::standing::Standing;
use whylate_base::{AdvisedFix, Cpu, Ns, Priority};
use whylate_events::Symbol;

/// The page of a cause, by its code.
macro_rules! page {
    ($code:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/causes/", $code, ".md"))
    };
}
pub(super) use page;

/// All that is known of one cause.
pub(crate) struct CauseInfo {
    /// The stable code.
    pub(crate) code: &'static str,
    /// The page of that code.
    pub(crate) page: &'static str,
    /// The group in which documents and colours show it.
    pub(crate) group: CauseGroup,
    /// What it blames.
    pub(crate) blames: Blames,
    /// One sentence: why the thread was late.
    pub(crate) why: fn(&LateActivation<'_>) -> String,
    /// What to do about it, best first.
    pub(crate) advice: fn(&Advised<'_>) -> Vec<AdvisedFix>,
    /// What most causes have in common.
    pub(crate) details: Details,
}

/// What a cause blames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blames {
    /// A thread, an interrupt, a setting or the machine.
    Another,
    /// The late thread itself.
    LateThread,
    /// Nothing: it names where the time passed, and not why.
    Nothing,
}

/// What a verdict and a report must know of a cause beyond its sentences.
pub(crate) struct Details {
    /// How a segment of this cause reads as evidence.
    pub(crate) evidence: fn(&ChargedTime) -> String,
    /// What the time is called in a verdict that nothing was late; the code if there is no other name.
    pub(crate) name_on_time: Option<&'static str>,
    /// The reason in the title of a finding that sums up one culprit's delays; `None` where there is no such finding.
    pub(crate) culprit_finding: Option<&'static str>,
    /// The culprit has the CPU while time is charged to this cause.
    pub(crate) culprit_holds_cpu: bool,
    /// The rules of the scheduling classes let the culprit run first: the late thread lacks nothing but a CPU.
    pub(crate) culprit_runs_first: bool,
    /// Which part of its time is usual, and so made nothing late.
    pub(crate) usual: Usual,
    /// It is part of all long work, so a small share of it is no answer.
    pub(crate) routine: bool,
    /// What its culprit did to a thread that never ran again; `None` where the verdict does not become `starved`.
    pub(crate) starves: Option<&'static str>,
    /// A thread that runs expired timers may be what was delayed by it.
    pub(crate) delays_timer_threads: bool,
    /// RT bandwidth control belongs to its evidence.
    pub(crate) shows_bandwidth: bool,
    /// Which sampled call stacks show where in the programs it happened.
    pub(crate) shown_by: ShownBy,
}

impl Details {
    pub(crate) const DEFAULT: Details = Details {
        evidence: ChargedTime::had_the_cpu,
        name_on_time: None,
        culprit_finding: None,
        culprit_holds_cpu: false,
        culprit_runs_first: false,
        usual: Usual::Nothing,
        routine: false,
        starves: Some("had the CPU"),
        delays_timer_threads: false,
        shows_bandwidth: false,
        shown_by: ShownBy::Nothing,
    };
}

/// Which sampled call stacks show where in the programs the time of a cause went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownBy {
    /// None: no program's line explains it.
    Nothing,
    /// Those of the late thread's CPU clock.
    OwnSamples,
    /// Those of its page faults.
    Faults,
    /// That with which it was switched out.
    Blocking,
    /// That with which it was switched out, and those of the lock's owner meanwhile.
    Lock,
    /// Those of the culprit's CPU clock, or that of the wake-up.
    Culprit,
}

/// Which part of a cause's time a thread's other activations show as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// None of it.
    Nothing,
    /// The median of the thread's own work.
    OwnWork,
    /// The mean of the path from a timer's interrupt to the thread.
    WakeUpPath,
    /// The mean, however long.
    Mean,
    /// The mean, but nothing of what is most of the response.
    MeanOfLess,
}

/// One late activation, as a cause's sentence needs it.
pub(crate) struct LateActivation<'a> {
    /// The late thread's name.
    pub(crate) name: String,
    /// The late thread with its priority: `control (rt 80)`.
    pub(crate) thread: String,
    pub(crate) cpu: Cpu,
    /// It was real-time when it became due.
    pub(crate) was_realtime: bool,
    /// Its priority in that time.
    pub(crate) priority: Priority,
    /// It is SCHED_DEADLINE.
    pub(crate) is_deadline: bool,
    /// The time charged to the cause and its culprit.
    pub(crate) charged: Ns,
    /// Due to done.
    pub(crate) response: Ns,
    pub(crate) culprit: Option<&'a Culprit>,
    /// Its own priority, where it ran with one that it had inherited.
    pub(crate) culprit_own: Option<Priority>,
    /// How many threads have the culprit's name, of which this is one, and the time charged to all of them.
    pub(crate) namesakes: (usize, Ns),
    /// What nearly always raised the culprit, a softirq, or armed the timers of one, the CPU's own timer interrupt.
    pub(crate) raised_by: Option<&'a Culprit>,
    /// The thread that was to wake it, and waited for the CPU that the culprit had.
    pub(crate) carrier: Option<&'a Culprit>,
    /// The owner of the lock that the thread waited for.
    pub(crate) lock_owner: Option<&'a Culprit>,
    /// The own priority of that owner, where it ran with one that it had inherited.
    pub(crate) owner_own: Option<Priority>,
    /// How the thread asked the culprit for the answer that it waited for.
    pub(crate) asked: Option<Asked>,
    /// The call or the handler in which it slept, where its own wait is late, or its sleep in the kernel.
    pub(crate) slept_in: Option<Within>,
    /// The system calls in which it waited for a device, and how long.
    pub(crate) device_calls: &'a [(&'static str, Ns)],
    /// It had pages written to a device itself.
    pub(crate) writeback: bool,
    /// The work item in which the culprit, a kworker, let it go on, and the thread that had queued that.
    pub(crate) work_item: Option<(Symbol, Option<&'a Culprit>)>,
    /// What the culprit, a kworker, executed in that time.
    pub(crate) executed: Option<String>,
    /// The culprit went on though it was to yield, and had preemption enabled.
    pub(crate) goes_on: Option<Standing>,
    /// Most of its own wait was for a grace period of RCU.
    pub(crate) grace_period: bool,
    /// How often it wrote to pages that were there and write-protected, where that was most of its page faults.
    pub(crate) write_protected: Option<usize>,
    /// A fork of its process write-protected them.
    pub(crate) forked: bool,
    /// The signal by which it stopped, where that was recorded.
    pub(crate) stopped_by: Option<&'static str>,
    /// It stopped for the program that traces it, and not by a signal alone.
    pub(crate) is_traced: bool,
    /// The thread woke the culprit in this activation, itself or by others that it woke.
    pub(crate) called: bool,
    /// The culprit gave way to a thread of its own priority.
    pub(crate) takes_turns: bool,
    /// The culprit ran at a priority that it inherited by a lock.
    pub(crate) inherited_priority: bool,
    /// The thread still waited for the CPU when the trace ended.
    pub(crate) waits_to_end: bool,
    /// The trace has the activation from its beginning to its end.
    pub(crate) is_whole: bool,
    /// Its response grows from one activation to the next.
    pub(crate) growth: Option<Growth>,
    /// For how long it ran after it was due, and before it began, where that is most of what is charged: it was at the job before.
    pub(crate) at_job_before: Option<Ns>,
    /// The thread's usual work.
    pub(crate) usual_work: Ns,
    /// The deadline that it missed, where its usual work alone is longer.
    pub(crate) work_misses: Option<Ns>,
    /// `kernel.sched_rt_runtime_us` and its period.
    pub(crate) rt_runtime: Option<Ns>,
    pub(crate) rt_period: Ns,
    /// Whether the machine is a guest, where the recording shows.
    pub(crate) is_guest: Option<bool>,
    /// The recording has page faults.
    pub(crate) shows_page_faults: bool,
    /// The charge is more than a guess.
    pub(crate) is_sure: bool,
    /// For a thread that never ran: what the culprit did ([`Details::starves`]).
    pub(crate) starved_because: &'static str,
}

impl LateActivation<'_> {
    /// The culprit in words.
    pub(crate) fn by(&self) -> String {
        self.culprit.map_or_else(|| "another thread".to_owned(), |by| by.raised_from(self.culprit_own))
    }

    /// The thread that was to wake it, in words; `otherwise`: what it is called where it is not known.
    pub(crate) fn carrier_or(&self, otherwise: &str) -> String {
        self.carrier.map_or_else(|| otherwise.to_owned(), Culprit::to_string)
    }

    /// The same behind such a name: ` (napi/eth0-8193:24 (nice 0))`; nothing where it is not known.
    pub(crate) fn carrier_in_brackets(&self) -> String {
        self.carrier.map_or_else(String::new, |carrier| format!(" ({carrier})"))
    }
}

/// What to do about the interrupt of a CPU's own timer.
pub(crate) const ON_OWN_TIMER: &str = "this interrupt is the CPU's own timer and cannot be moved: take work off this CPU (isolcpus=, \
                                       nohz_full=, an isolated cpuset partition)";

/// Advice that a PREEMPT_RT kernel has taken already.
pub(crate) const USE_PREEMPT_RT: [&str; 4] = [
    "boot with threadirqs, or use a PREEMPT_RT kernel: the handler is then a thread with a priority",
    "use a PREEMPT_RT kernel, which disables interrupts far less",
    "use a fully preemptible kernel: preempt=full, or PREEMPT_RT; preempt=full does not help where the code itself disables \
     preemption",
    "use a PREEMPT_RT kernel, whose own locks inherit priority, but for readers of read-write locks",
];

/// One segment of a ledger, as evidence.
pub(crate) struct ChargedTime {
    pub(crate) code: &'static str,
    pub(crate) length: Ns,
    pub(crate) culprit: Option<String>,
    /// The owner of the lock that the thread waited for, where it is not the culprit.
    pub(crate) lock_owner: Option<String>,
    /// More than a guess.
    pub(crate) is_sure: bool,
    /// The thread that had the CPU for nearly all of the segment.
    pub(crate) running: Option<String>,
    /// The thread that runs expired timers, where that is what waited.
    pub(crate) expirer: Option<String>,
}

impl ChargedTime {
    pub(super) fn had_the_cpu(&self) -> String {
        let ChargedTime { code, length, culprit, lock_owner, .. } = self;
        let owner =
            lock_owner.as_ref().map_or_else(String::new, |owner| format!(", while {owner} held the lock"));
        match culprit {
            Some(by) => format!("{by} had the CPU for {length}{owner}"),
            None => format!("{code}, {length}"),
        }
    }

    /// The same of a handler in which nothing was recorded for long.
    pub(super) fn handler_had_the_cpu(&self) -> String {
        let doubt = match self.is_sure {
            true => "",
            false => ", and nothing was recorded in it: a hypervisor or the firmware may have had the CPU",
        };
        format!("{}{doubt}", self.had_the_cpu())
    }

    pub(super) fn did_not_run(&self) -> String {
        format!("runnable but did not run for {}", self.length)
    }
}

/// A group of causes, as documents list them and as colours show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseGroup {
    /// Another thread had the CPU, or stopped the late one.
    OtherThreads,
    /// A limit on CPU time was used up.
    CpuTimeLimits,
    /// Interrupt handlers ran.
    Interrupts,
    /// Interrupts or preemption were disabled.
    Disabled,
    /// The path from a timer to the thread.
    WakeUpPath,
    /// The thread waited on the wrong CPU, or never ran.
    Placement,
    /// The thread waited for a lock.
    Locks,
    /// The thread waited for memory or for a device.
    MemoryAndDevices,
    /// The thread's own code.
    OwnProgram,
    /// The recording does not show a cause in this kernel.
    NotShown,
}

impl CauseGroup {
    /// Every group, in the order of the documentation.
    pub const ALL: [CauseGroup; 10] = [
        CauseGroup::OtherThreads,
        CauseGroup::CpuTimeLimits,
        CauseGroup::Interrupts,
        CauseGroup::Disabled,
        CauseGroup::WakeUpPath,
        CauseGroup::Placement,
        CauseGroup::Locks,
        CauseGroup::MemoryAndDevices,
        CauseGroup::OwnProgram,
        CauseGroup::NotShown,
    ];

    /// The heading under which documents list it.
    pub fn title(self) -> &'static str {
        match self {
            CauseGroup::OtherThreads => "other threads",
            CauseGroup::CpuTimeLimits => "limits on CPU time",
            CauseGroup::Interrupts => "interrupts",
            CauseGroup::Disabled => "interrupts or preemption disabled",
            CauseGroup::WakeUpPath => "the path from the timer to the thread",
            CauseGroup::Placement => "the choice of CPU, starvation",
            CauseGroup::Locks => "locks",
            CauseGroup::MemoryAndDevices => "memory and devices",
            CauseGroup::OwnProgram => "the program itself",
            CauseGroup::NotShown => "hypervisor, firmware, or not recorded",
        }
    }
}
