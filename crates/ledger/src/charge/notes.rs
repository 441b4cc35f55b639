//! What a verdict needs and the segments of a ledger do not hold.

use crate::causes::Cause;
use crate::model::{Culprit, Segment};
use crate::timeline::sleeps::{Asked, Itself, NoMutex};
use crate::timeline::slew::Slew;
use crate::timeline::spent::Within;
use crate::timeline::standing::Standing;
use whylate_base::{Comm, Cpu, CpuSet, Evidence, Ns, Priority, Tid};
use whylate_events::Symbol;

/// A note on an activation, for its verdict.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum VerdictNote {
    /// While a thread waited on a CPU, others that it may use were idle.
    Idle { at: Ns, on: Cpu, idle: CpuSet },
    /// While it waited for so long on a CPU, another was idle for most of that, on which it never ran, or that it may not use.
    OutOfReach { at: Ns, cpu: Cpu, idle: Ns, bound: bool },
    /// What an interrupt's timers ran.
    Timers(TimerCallbacks),
    /// The thread that runs expired timers waited for the CPU until then.
    Expirer { thread: Culprit, until: Ns },
    /// The thread that was to wake it, by a packet, an interrupt or a work item, waited for the CPU.
    Carrier(Culprit),
    /// A thread ran at a priority above its own: it held a lock that another waited for.
    Boosted { by: Culprit, own: Priority },
    /// A thread ran before it that it had woken itself in this activation.
    Called(Tid),
    /// A thread of its own priority left the CPU, runnable, to another one of that priority.
    TakesTurns(Tid),
    /// It waited for an answer of this thread, which itself waited for the CPU that another one had, or did `itself` what took most of
    /// the time.
    Answerer { server: Culprit, behind: Option<Culprit>, itself: Option<Itself> },
    /// It waited for an answer of this thread, which it had asked for so.
    Asked(Tid, Asked),
    /// The owner of a lock that it waited for slept for so long.
    OwnerSlept(Ns),
    /// This thread went on meanwhile, though it was to yield and had preemption enabled.
    GoesOn(Tid, Standing),
    /// It waited for a grace period of RCU for so long.
    GracePeriod(Ns),
    /// It waited for a lock of the kernel in that time.
    KernelLock { from: Ns, to: Ns },
    /// It waited in that time for a lock that is no mutex; the thread that waited for that before.
    OtherLock { from: Ns, to: Ns, kind: NoMutex, behind: Option<Culprit> },
    /// In which call or handler it spent most of its own time, and how long.
    Spent { within: Within, time: Ns },
    /// It made so many short system calls of this kind, which took so long in all.
    ManyCalls { within: Within, times: u64, time: Ns },
    /// Most of its page faults were writes to pages that were there, and write-protected: so many. `forked`: its process had
    /// started another one with a copy of its memory shortly before.
    WriteProtected { times: usize, forked: bool },
    /// It stopped for the program that traces it.
    Traced,
    /// The program that traces it waited for the CPU that this thread had.
    Tracer { tracer: Culprit, behind: Culprit },
    /// It stopped by this signal.
    StoppedBy(&'static str),
    /// In which calls it slept for most of its own waits, of its sleeps in the kernel or of its waits for a device, and how long: the
    /// longest first.
    SleptIn { cause: Cause, within: Within, time: Ns },
    /// It had pages written to a device itself.
    Writeback,
    /// All its writes in which it waited for a device were of whole pages.
    WholePages,
    /// The work item in which a kworker let it go on, and the thread that had queued that.
    LetGoIn { kworker: Tid, function: Symbol, queued_by: Option<Culprit> },
    /// What a kworker executed most while it had the CPU, how often, and how many other work items.
    Executed { kworker: Tid, function: Symbol, times: usize, others: usize },
    /// A clock that runs faster than the timer hardware delayed its timer for so long.
    Slewed { slew: Slew, time: Ns },
    /// The softirq that was to wake it was left to a thread: its number.
    Deferred(u32),
    /// Something else was seen.
    Note(Evidence),
    /// The tool that measured it kept it because it was too late.
    TooLate,
}

impl From<Evidence> for VerdictNote {
    fn from(seen: Evidence) -> VerdictNote {
        VerdictNote::Note(seen)
    }
}

/// The timer callbacks of one interrupt in an activation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TimerCallbacks {
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// How many ran, and for how long in all.
    pub(crate) count: usize,
    pub(crate) time: Ns,
    /// The function that took most of it, how often it ran, and for how long.
    pub(crate) most: (Symbol, usize, Ns),
    /// The thread that armed most of that function's timers, and how many of them.
    pub(crate) armed_by: Option<(Tid, Comm, usize)>,
}

/// The thread that was to wake it, where that is what waited.
pub(crate) fn carrier(notes: &[VerdictNote]) -> Option<&Culprit> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Carrier(carrier) => Some(carrier),
        _ => None,
    })
}

/// The CPUs that were idle while it waited on another.
pub(crate) fn idle_cpus(notes: &[VerdictNote]) -> Option<&CpuSet> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Idle { idle, .. } => Some(idle),
        _ => None,
    })
}

/// True of a culprit that ran at a priority above its own.
pub(crate) fn is_boosted(notes: &[VerdictNote], by: &Culprit) -> bool {
    own_priority(notes, by).is_some()
}

/// The own priority of a culprit that ran at a priority above it.
pub(crate) fn own_priority(notes: &[VerdictNote], by: &Culprit) -> Option<Priority> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Boosted { by: boosted, own } if boosted == by => Some(*own),
        _ => None,
    })
}

/// A culprit in words: of one that ran at an inherited priority, with its own one.
pub(crate) fn shown(notes: &[VerdictNote], by: &Culprit) -> String {
    by.raised_from(own_priority(notes, by))
}

/// True of a culprit that the late thread woke itself in this activation.
pub(crate) fn is_called(notes: &[VerdictNote], by: Option<Culprit>) -> bool {
    is_noted(notes, by, VerdictNote::Called)
}

/// True of a culprit that takes turns with threads of its priority.
pub(crate) fn takes_turns(notes: &[VerdictNote], by: Option<Culprit>) -> bool {
    is_noted(notes, by, VerdictNote::TakesTurns)
}

/// True of a culprit that is a thread, of which this is noted.
fn is_noted(notes: &[VerdictNote], by: Option<Culprit>, note: impl Fn(Tid) -> VerdictNote) -> bool {
    matches!(by, Some(Culprit::Task { tid, .. }) if notes.contains(&note(tid)))
}

/// The work item in which a kworker let the late thread go on, and the thread that had queued it.
pub(crate) fn let_go_in(notes: &[VerdictNote], by: Option<Culprit>) -> Option<(Symbol, Option<&Culprit>)> {
    let Some(Culprit::Task { tid, .. }) = by else { return None };
    notes.iter().find_map(|note| match note {
        VerdictNote::LetGoIn { kworker, function, queued_by } if *kworker == tid => {
            Some((*function, queued_by.as_ref()))
        }
        _ => None,
    })
}

/// What a kworker executed in the time that is charged to it: `kcryptd_crypt 24 times, and 2 other work items`.
pub(crate) fn executed(notes: &[VerdictNote], by: Option<Culprit>) -> Option<String> {
    let Some(Culprit::Task { tid, .. }) = by else { return None };
    notes.iter().find_map(|note| match note {
        VerdictNote::Executed { kworker, function, times, others } if *kworker == tid => {
            let times = if *times == 1 { String::new() } else { format!(" {times} times") };
            let others = match others {
                0 => String::new(),
                1 => ", and one other work item".to_owned(),
                others => format!(", and {others} other work items"),
            };
            Some(format!("{function}{times}{others}"))
        }
        _ => None,
    })
}

/// The call or the handler in which it slept for most of this time of a cause: its own waits, or its sleeps in the kernel.
pub(crate) fn slept_in(notes: &[VerdictNote], of: Cause, charged: Ns) -> Option<Within> {
    notes.iter().find_map(|note| match note {
        VerdictNote::SleptIn { cause, within, time }
            if *cause == of && time.0.saturating_mul(2) >= charged.0 =>
        {
            Some(*within)
        }
        _ => None,
    })
}

/// The system calls in which it slept for nearly all of this time of a cause, each for a part of it, as many as have a name.
pub(crate) fn calls_slept_in(notes: &[VerdictNote], of: Cause, charged: Ns) -> Vec<(&'static str, Ns)> {
    /// One in so many parts.
    const NOTABLE_PART: i64 = 5;
    let calls = notes.iter().filter_map(|note| match note {
        VerdictNote::SleptIn { cause, within, time } if *cause == of => Some((within.call()?, *time)),
        _ => None,
    });
    let calls: Vec<_> = calls.filter(|(_, time)| time.0.saturating_mul(NOTABLE_PART) >= charged.0).collect();
    let all: Ns = calls.iter().map(|(_, time)| *time).sum();
    if all.0.saturating_mul(NOTABLE_PART) >= charged.0.saturating_mul(NOTABLE_PART - 1) {
        calls
    } else {
        Vec::new()
    }
}

/// How often it wrote to write-protected pages, where that was most of its page faults.
pub(crate) fn write_protected(notes: &[VerdictNote]) -> Option<usize> {
    notes.iter().find_map(|note| match note {
        VerdictNote::WriteProtected { times, .. } => Some(*times),
        _ => None,
    })
}

/// True where a fork of its process write-protected the pages.
pub(crate) fn protected_by_fork(notes: &[VerdictNote]) -> bool {
    notes.iter().any(|note| matches!(note, VerdictNote::WriteProtected { forked: true, .. }))
}

/// The signal by which it stopped, where that was recorded.
pub(crate) fn stopped_by(notes: &[VerdictNote]) -> Option<&'static str> {
    notes.iter().find_map(|note| match note {
        VerdictNote::StoppedBy(signal) => Some(*signal),
        _ => None,
    })
}

/// The softirq that was left to a thread.
pub(crate) fn deferred(notes: &[VerdictNote]) -> Option<u32> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Deferred(vec) => Some(*vec),
        _ => None,
    })
}

/// The thread that was to answer it, and the one that had that thread's CPU.
pub(crate) fn answerer(notes: &[VerdictNote]) -> Option<(&Culprit, Option<&Culprit>)> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Answerer { server, behind, .. } => Some((server, behind.as_ref())),
        _ => None,
    })
}

/// What the thread itself did that was to answer it.
pub(crate) fn answerer_itself(notes: &[VerdictNote]) -> Option<Itself> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Answerer { itself, .. } => Some(*itself),
        _ => None,
    })?
}

/// The program that traces the late thread, and the thread that had the CPU for which it waited.
pub(crate) fn tracer(notes: &[VerdictNote]) -> Option<(&Culprit, Option<&Culprit>)> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Tracer { tracer, behind } => Some((tracer, Some(behind))),
        _ => None,
    })
}

/// How the late thread asked a culprit for the answer that it waited for.
pub(crate) fn asked(notes: &[VerdictNote], by: Option<Culprit>) -> Option<Asked> {
    let Some(Culprit::Task { tid, .. }) = by else { return None };
    notes.iter().find_map(|note| match note {
        VerdictNote::Asked(server, asked) if *server == tid => Some(*asked),
        _ => None,
    })
}

/// The slew that delayed its timer for most of `charged`.
pub(crate) fn slewed(notes: &[VerdictNote], charged: Ns) -> Option<Slew> {
    notes.iter().find_map(|note| match note {
        VerdictNote::Slewed { slew, time } if time.0.saturating_mul(2) >= charged.0 => Some(*slew),
        _ => None,
    })
}

/// For how long the owners of locks that it waited for slept.
pub(crate) fn owners_slept(notes: &[VerdictNote]) -> Ns {
    let slept = notes.iter().filter_map(|note| match note {
        VerdictNote::OwnerSlept(slept) => Some(*slept),
        _ => None,
    });
    slept.sum()
}

/// That a culprit went on though it was to yield, and had preemption enabled; the longest time of it.
pub(crate) fn goes_on(notes: &[VerdictNote], by: Option<Culprit>) -> Option<Standing> {
    let Some(Culprit::Task { tid, .. }) = by else { return None };
    let standings = notes.iter().filter_map(|note| match note {
        VerdictNote::GoesOn(of, standing) if *of == tid => Some(*standing),
        _ => None,
    });
    standings.max_by_key(|standing| standing.to - standing.from)
}

/// True where most of what is charged was waits for grace periods of RCU.
pub(crate) fn grace_period(notes: &[VerdictNote], charged: Ns) -> bool {
    let waits = notes.iter().filter_map(|note| match note {
        VerdictNote::GracePeriod(time) => Some(*time),
        _ => None,
    });
    let time: Ns = waits.sum();
    charged > Ns::ZERO && time.0.saturating_mul(2) >= charged.0
}

/// Of segments that are waits for a lock which is no mutex: what that is, and the thread that waited for it before, where one is known.
pub(crate) fn other_lock<'a>(
    notes: &[VerdictNote],
    mut segments: impl Iterator<Item = &'a Segment>,
) -> Option<(NoMutex, Option<Culprit>)> {
    segments.find_map(|segment| {
        notes.iter().find_map(|note| match *note {
            VerdictNote::OtherLock { from, to, kind, behind } if from < segment.end && segment.start < to => {
                Some((kind, behind))
            }
            _ => None,
        })
    })
}

/// True of segments most of whose time is waits for locks of the kernel.
pub(crate) fn waits_for_the_kernel<'a>(
    notes: &[VerdictNote],
    segments: impl Iterator<Item = &'a Segment>,
) -> bool {
    let waits = segments.map(|segment| (time_in_the_kernel(notes, segment), segment.length()));
    let (in_kernel, all) = waits.fold((Ns::ZERO, Ns::ZERO), |sum, wait| (sum.0 + wait.0, sum.1 + wait.1));
    in_kernel > Ns::ZERO && in_kernel.0.saturating_mul(2) >= all.0
}

/// For how long of a segment the thread waited for locks of the kernel.
pub(crate) fn time_in_the_kernel(notes: &[VerdictNote], segment: &Segment) -> Ns {
    let waits = notes.iter().filter_map(|note| match note {
        VerdictNote::KernelLock { from, to } => Some(segment.end.min(*to).since(segment.start.max(*from))),
        _ => None,
    });
    waits.sum::<Ns>().min(segment.length())
}
