//! The words of a verdict: one sentence that an engineer can act on, and the evidence's lines.

use crate::cause::Cause;
use crate::charge::Timers;
use crate::engine::Engine;
use crate::latency::is_stand_in;
use crate::model::{Activation, Culprit, Occupant, Segment, Verdict};
use crate::threads::Thread;
use crate::verdict::advice::irq_thread;
use whylate_base::{Confidence, Ns, Priority};

/// A culprit, with what tells it from its namesakes.
pub(crate) fn name(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Task { tid, comm, priority: Priority::UNKNOWN } if comm.is_empty() => {
            format!("thread {tid}")
        }
        Culprit::Task { tid, comm, priority: Priority::UNKNOWN } if is_stand_in(*tid) => comm.to_string(),
        Culprit::Task { tid, comm, priority: Priority::UNKNOWN } => format!("{comm}:{tid}"),
        Culprit::Task { tid, comm, priority } if comm.is_empty() => format!("thread {tid} ({priority})"),
        Culprit::Task { tid, comm, priority } if is_stand_in(*tid) => format!("{comm} ({priority})"),
        Culprit::Task { tid, comm, priority } => format!("{comm}:{tid} ({priority})"),
        Culprit::Irq { irq: Some(irq), name } => format!("irq {irq} ({name})"),
        Culprit::Irq { irq: None, name } => format!("{name} interrupt"),
        Culprit::Softirq { vec } => format!("softirq {}", softirq_name(*vec)),
    }
}

/// A softirq's name, as `/proc/softirqs` has it (`include/linux/interrupt.h`).
pub fn softirq_name(vec: u32) -> &'static str {
    const NAMES: [&str; 10] =
        ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
    NAMES.get(vec as usize).copied().unwrap_or("unknown")
}

/// One charged stretch, in words.
pub(crate) fn segment(segment: &Segment, activation: &Activation) -> String {
    let length = segment.length();
    let by = segment.by.as_ref().map(name);
    let owner = match (&segment.owner, &segment.by) {
        (Some(owner), by) if Some(*owner) != *by => format!(", while {} held the lock", name(owner)),
        _ => String::new(),
    };
    match (segment.cause, by) {
        (Cause::OwnWork, _) => format!("ran for {length}"),
        (Cause::PageFault, _) => format!("page fault, {length}"),
        (Cause::BlockIo, _) => format!("slept for a device, {length}"),
        (Cause::RtThrottled, Some(by)) => {
            format!("runnable and not run for {length}; {by} had used the time up")
        }
        // What was used up is what the clock had booked.
        (Cause::RtThrottled | Cause::CoarseClockThrottled, _) => {
            format!("runnable and not run for {length}")
        }
        (Cause::FairServer, Some(by)) => format!("{by} was run in front for {length}"),
        (Cause::LockWait, Some(by)) => format!("waited {length} for a lock of {by}"),
        (Cause::CgroupQuota, _) if segment.confidence > Confidence::Low => {
            format!("runnable and not run for {length}, until its cgroup's quota was refilled")
        }
        (Cause::CgroupQuota, _) => format!("runnable and not run for {length}"),
        (Cause::TimerLate, _) => match running_at(activation, segment) {
            Some(task) => format!("{length} from expiry to handler, while {task} had the CPU"),
            None => format!("{length} from expiry to handler"),
        },
        (Cause::Stolen, _) => format!("nothing happened for {length}"),
        (Cause::TraceLoss, _) => format!("events lost for {length}"),
        (_, Some(by)) => format!("{by} had the CPU for {length}{owner}"),
        (cause, None) => format!("{cause}, {length}"),
    }
}

/// True of a thread that still waited for the CPU when the trace ended.
fn ends_waiting(activation: &Activation) -> bool {
    activation.done.is_none()
        && activation.running.is_none_or(|running| running < activation.end)
        && activation.ledger.last().is_some_and(|last| {
            matches!(last.cause, Cause::HigherPriorityTask | Cause::EqualPriorityTask | Cause::FairQueue)
        })
}

/// What a thread of the kernel is, where it does an interrupt's work.
fn handler_thread(by: Option<&Culprit>) -> String {
    if let Some((irq, action)) = irq_thread(by) {
        return format!(", the thread of interrupt {irq} ({action}),");
    }
    match by {
        Some(Culprit::Task { comm, .. }) if comm.as_str().starts_with("ksoftirqd/") => {
            ", which runs softirqs,".to_owned()
        }
        Some(Culprit::Task { comm, .. }) if comm.as_str().starts_with("ktimers/") => {
            ", which runs timers' callbacks,".to_owned()
        }
        _ => String::new(),
    }
}

/// What a timer interrupt ran, in words.
pub(crate) fn timers(timers: &Timers) -> String {
    let Timers { count, time, most: (function, times, spent), armed_by, .. } = timers;
    let function = if function.is_empty() { "one function" } else { function.as_str() };
    let armed = match armed_by {
        Some((tid, comm, armed)) => format!(", {armed} of them armed by {comm}:{tid}"),
        None => String::new(),
    };
    let expired = if *count == 1 { "1 timer".to_owned() } else { format!("{count} timers") };
    format!("{expired} expired in it and ran for {time}; {function} {times} times, {spent}{armed}")
}

/// The thread that had the CPU when a segment began.
fn running_at(activation: &Activation, segment: &Segment) -> Option<String> {
    let lane = activation.lanes.iter().find(|lane| lane.cpu == segment.cpu)?;
    let slice = lane.slices.iter().find(|slice| slice.start <= segment.start && slice.end > segment.start)?;
    match slice.who {
        Occupant::Task { tid, comm, priority } => Some(name(&Culprit::Task { tid, comm, priority })),
        _ => None,
    }
}

/// Why it was late, where the thread that runs its timer had to wait for the CPU.
pub(crate) fn expirer_waited(activation: &Activation, verdict: &Verdict, expirer: &Culprit) -> String {
    let by = verdict.by.as_ref().map_or_else(|| "another thread".to_owned(), name);
    format!(
        "{by} kept {} off the CPU for {}: in it expires the timer that wakes {} ({})",
        name(expirer),
        verdict.charged,
        activation.comm,
        activation.priority
    )
}

/// Why the activation was late, in one sentence.
pub(crate) fn why(
    engine: &Engine<'_>,
    thread: &Thread,
    activation: &Activation,
    verdict: &Verdict,
    underlying: Cause,
    on_time: bool,
    usual_work: Ns,
) -> String {
    let who = format!("{} ({})", activation.comm, activation.priority);
    let charged = verdict.charged;
    let response = activation.response();
    let by = verdict.by.as_ref().map_or_else(|| "another thread".to_owned(), name);
    let cpu = activation.cpu;
    if on_time {
        let what = match verdict.cause {
            Cause::OwnWork => "its own work",
            Cause::Irq => "the interrupt that woke it",
            Cause::Dispatch => "the kernel's way to switch to it",
            Cause::IdleExit => "the CPU's way out of idle",
            Cause::TimerLate => "the timer hardware's delay",
            cause => cause.code(),
        };
        let usual = match thread.stats.as_ref().is_some_and(|stats| stats.activations >= super::ENOUGH) {
            true => ", about as always",
            false => "",
        };
        return format!("nothing delayed {who}: {charged} of {response} was {what}{usual}");
    }
    match verdict.cause {
        Cause::OwnWork if activation.is_whole() => {
            format!("{who} ran for {charged} itself, where {usual_work} is usual")
        }
        Cause::OwnWork => {
            format!("{who} ran for {charged} itself; the trace shows only part of this activation")
        }
        Cause::HigherPriorityTask if verdict.by.as_ref().is_some_and(|by| super::is_boosted(engine, by)) => {
            format!(
                "{by} held a lock that a thread of higher priority waits for, and ran at that one's priority: it held CPU \
             {cpu} for {charged} while {who} was runnable"
            )
        }
        Cause::HigherPriorityTask => {
            let thread = handler_thread(verdict.by.as_ref());
            let to_the_end = if ends_waiting(activation) { ", to the end of the trace" } else { "" };
            format!(
                "{by}{thread} runs before {who}, and held CPU {cpu} for {charged} while it was runnable{to_the_end}"
            )
        }
        Cause::EqualPriorityTask => format!(
            "{by} has the same priority as {who}, and a FIFO thread is not preempted by its equals: it held CPU \
             {cpu} for {charged}"
        ),
        Cause::DeadlineTask => {
            format!(
                "{by} is SCHED_DEADLINE, which goes before every FIFO and RR thread: it held CPU {cpu} for {charged}"
            )
        }
        Cause::StopTask => format!("the kernel's stopper {by} held CPU {cpu} for {charged}"),
        Cause::RtThrottled if verdict.by.is_none() => format!(
            "RT throttling kept {who} off CPU {cpu} for {charged}: the real-time threads of that CPU had used up their \
             time"
        ),
        Cause::RtThrottled => {
            let runtime =
                engine.bandwidth.runtime.map_or_else(|| "their share".to_owned(), |ns| ns.to_string());
            let period = engine.bandwidth.period;
            format!(
                "RT throttling kept {who} off CPU {cpu} for {charged}: {by} and the other real-time threads had used \
                 up {runtime} of {period} there"
            )
        }
        Cause::CoarseClockThrottled => format!(
            "RT throttling kept {who} off CPU {cpu} for {charged} although real-time threads used little of it: the \
             scheduler's clock books whole ticks on threads that run in phase with it"
        ),
        Cause::FairServer | Cause::ExtServer => format!(
            "the kernel's fair server ran SCHED_OTHER threads ({by}) on CPU {cpu} for {charged} while {who} was runnable"
        ),
        Cause::Irq => format!("hard interrupts took {charged} of CPU {cpu}: {by}"),
        Cause::Softirq => format!("{by} took {charged} of CPU {cpu} in front of {who}"),
        Cause::IrqsDisabled => format!("{by} kept interrupts disabled on CPU {cpu} for {charged}"),
        Cause::PreemptionDisabled => format!("{by} did not give way to {who} on CPU {cpu} for {charged}"),
        Cause::TimerLate => {
            let guest = match engine.hypervisor {
                Some(true) => "; this machine is a guest, and its hypervisor may have had the CPU",
                _ => "",
            };
            format!(
                "the timer of {who} was handled {charged} after its expiry; what kept CPU {cpu} from it was not \
                 recorded{guest}"
            )
        }
        Cause::TimerSlack => {
            format!("{who} is not real-time, and its timer was let slip by {charged} of timer slack")
        }
        Cause::IdleExit => format!("CPU {cpu} took {charged} to come out of idle"),
        Cause::Dispatch => format!("the kernel took {charged} from wake-up to switch on CPU {cpu}"),
        Cause::LockInversion => {
            let owner = activation
                .ledger
                .iter()
                .filter(|segment| segment.cause == Cause::LockInversion && segment.by == verdict.by)
                .find_map(|segment| segment.owner.as_ref())
                .map_or_else(|| "another thread".to_owned(), name);
            format!(
                "{who} waited for a lock of {owner}, which {by} kept off its CPU for {charged}: priority inversion, \
                 the lock does not inherit priority"
            )
        }
        Cause::LockWait => format!("{who} waited {charged} for a lock that {by} held"),
        Cause::PageFault => format!("{who} touched memory that was not there: {charged} of page faults"),
        Cause::BlockIo => format!("{who} waited {charged} for a device in the middle of its work"),
        Cause::FairQueue => format!("{who} is not real-time and waited its turn for {charged} behind {by}"),
        Cause::PinnedBeforePriority => format!(
            "{who} pinned itself to CPU {cpu} while it was still SCHED_OTHER, and so waited {charged} behind {by} \
             before it could raise its priority"
        ),
        Cause::Starved => {
            let how = match underlying {
                Cause::HigherPriorityTask => "goes before it",
                Cause::RtThrottled | Cause::CoarseClockThrottled => {
                    "had used up the time of RT bandwidth control"
                }
                _ => "had the CPU",
            };
            format!(
                "{who} was runnable on CPU {cpu} for {response}, to the end of the trace, and never ran: {by} {how}"
            )
        }
        Cause::Stolen => format!(
            "nothing at all happened on CPU {cpu} for {charged}, not even due timers: the time went to the hypervisor, \
             the firmware (SMI) or the hardware"
        ),
        Cause::TraceLoss => format!("events were lost for {charged}: what happened then cannot be told"),
        Cause::Migration => format!("{who} waited {charged} to be moved to another CPU"),
        Cause::CgroupQuota => {
            format!(
                "{who} was runnable on CPU {cpu} and not run for {charged}: its cgroup's CPU quota was used up"
            )
        }
        Cause::WakePlacement => format!(
            "{who} waited {charged} behind {by} on CPU {cpu}, while another CPU that it may use was idle"
        ),
        Cause::Nmi | Cause::RelativeSleep | Cause::Unexplained => {
            format!("{charged} of {response} could not be explained from what was recorded")
        }
    }
}
