//! The words all renderers share: how a thread, a culprit, a trigger, an instant is written.

use whylate_base::{Comm, Evidence, Ns, Policy, Priority, Tid};
use whylate_events::{Kind, Quality, TraceInfo};
use whylate_ledger::{
    Activation, Cause, CpuContext, CriticalSection, Culprit, FunctionTimes, Gap, OnCpu, Trigger, Verdict,
    irq_name, is_stand_in, softirq_name, thread_name,
};
use whylate_stats::Histogram;

/// Text from outside (a thread's name, a file's damage) made harmless to show.
///
/// A thread chooses its own name: control characters would reach the terminal as escape
/// sequences and are not legal in HTML; bidirectional overrides would reorder the line.
pub(crate) fn clean(text: &str) -> String {
    whylate_base::printable(text)
}

/// A thread's name, harmless to show.
pub(crate) fn thread(comm: &Comm, tid: Tid) -> String {
    clean(&thread_name(comm, tid))
}

/// `fifo 50`, `deadline`, `nice 0`, or the class alone (`rt 50`) where the policy is not known.
pub(crate) fn scheduling(policy: Option<Policy>, priority: Priority) -> String {
    match (policy, priority.realtime_user()) {
        (Some(policy @ (Policy::Fifo | Policy::Rr)), Some(user)) => format!("{} {user}", policy.name()),
        (Some(policy @ (Policy::Batch | Policy::Idle | Policy::Ext)), None) => {
            format!("{}, {priority}", policy.name())
        }
        _ => priority.to_string(),
    }
}

/// A culprit's name, harmless to show.
pub(crate) fn culprit(culprit: &Culprit) -> String {
    clean(&culprit.to_string())
}

/// What ran on a CPU.
pub(crate) fn on_cpu(running: &OnCpu) -> String {
    let named = match *running {
        OnCpu::Idle => return "idle".to_owned(),
        OnCpu::Unknown => return "unknown (events lost)".to_owned(),
        OnCpu::Task { tid, comm, priority } => Culprit::Task { tid, comm, priority },
        OnCpu::Irq { irq, name } => Culprit::Irq { irq, name },
        OnCpu::Softirq { vec } => Culprit::Softirq { vec },
    };
    culprit(&named)
}

/// When an activation became due: `due at 1.999123`.
pub(crate) fn due_at(activation: &Activation) -> String {
    match activation.due {
        // Of another tool's analysis only lengths are known.
        Ns::ZERO if is_stand_in(activation.tid) => "due".to_owned(),
        due if activation.trigger == Trigger::Running => format!("held up at {}", instant(due)),
        due => format!("due at {}", instant(due)),
    }
}

/// What made an activation due, to follow "due at ...", and whether a program starts or ends in it.
pub(crate) fn trigger(activation: &Activation) -> String {
    let made_due = match activation.lacks_its_wakeup() {
        true => "it ran, its wake-up was not recorded".to_owned(),
        false => made_due(&activation.trigger),
    };
    format!("{made_due}{}", start_or_end(activation))
}

/// That a program starts or ends in it, to follow what it is about.
pub(crate) fn start_or_end(activation: &Activation) -> &'static str {
    match (activation.starts_program, activation.ends_program) {
        (true, _) => "; the start of a program",
        (false, true) => "; the end of a program",
        (false, false) => "",
    }
}

fn made_due(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Timer => "its timer expired".to_owned(),
        // The text has the wake-up without its thread.
        Trigger::Thread { tid, .. } | Trigger::Upon { tid, .. } if tid.0 < 0 => made_due(&Trigger::Wakeup),
        Trigger::Thread { tid, comm } => format!("woken by {}", thread(comm, *tid)),
        Trigger::Upon { tid, comm } => {
            format!("woken by {}, or by an interrupt upon it", thread(comm, *tid))
        }
        Trigger::Irq { irq, name } => {
            format!("woken by {}", clean(&irq_name(Some(*irq), name.as_str())))
        }
        Trigger::Softirq { vec } => format!("woken by softirq {}", softirq_name(*vec)),
        Trigger::Marker => "its marker".to_owned(),
        Trigger::Wakeup => "woken, the waker was not recorded".to_owned(),
        Trigger::TraceStart => "the trace begins in the middle of it".to_owned(),
        Trigger::Running => "in the middle of its work".to_owned(),
    }
}

/// An instant as ftrace prints it, in seconds rounded to the microsecond, so that it can be
/// searched for.
pub(crate) fn instant(at: Ns) -> String {
    let us = (at.0.unsigned_abs() + 500) / 1_000;
    let sign = if at.0 < 0 && us > 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// A share 0 to 1 as a percentage; what is there but small never reads as nothing, and
/// what is not the whole never reads as the whole.
pub(crate) fn percent(share: f64) -> String {
    let share = if share.is_finite() { share } else { 0.0 };
    if share > 0.0 && share < 0.0005 {
        "<0.1 %".to_owned()
    } else if share > 0.9995 && share < 1.0 {
        ">99.9 %".to_owned()
    } else {
        format!("{:.1} %", share * 100.0)
    }
}

/// `48 213 901` with commas: `48,213,901`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A time that may not be known.
pub(crate) fn known(time: Option<Ns>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| time.to_string())
}

/// The columns of a distribution behind the count of its samples.
pub(crate) const DISTRIBUTION: [&str; 6] = ["min", "mean", "p50", "p99", "p99.99", "max"];

/// How many samples, and the numbers of [`DISTRIBUTION`].
pub(crate) fn distribution(histogram: &Histogram) -> [String; 7] {
    [
        count(histogram.count()),
        known(histogram.min()),
        known(histogram.mean()),
        known(histogram.median()),
        known(histogram.tail(0.99)),
        known(histogram.tail(0.9999)),
        known(histogram.max()),
    ]
}

/// `1 finding`, `3 findings`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// What the recording is, in parts to be joined by a separator.
pub(crate) fn trace(info: &TraceInfo) -> Vec<String> {
    let mut parts = vec![clean(&info.format)];
    // A report has results in place of events, and may be of no single CPU.
    if info.events > 0 || info.breakdowns.is_empty() {
        parts.push(plural(info.events, "event"));
    }
    if info.cpus > 0 || info.breakdowns.is_empty() {
        parts.push(cpus(info));
    }
    if let Some((start, end)) = info.span {
        parts.push(end.since(start).to_string());
    }
    if let Some(clock) = &info.clock {
        parts.push(format!("clock {}", clean(clock)));
    }
    if let Some(release) = &info.kernel_release {
        parts.push(format!("Linux {}", clean(release)));
    }
    if let Some(machine) = &info.machine {
        parts.push(clean(machine));
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// `4 CPUs`; of a text that does not have their number `CPUs 1,5`, unless it shows all up to the highest.
fn cpus(info: &TraceInfo) -> String {
    let seen = &info.cpus_seen;
    match seen.len() {
        0 => plural(info.cpus.into(), "CPU"),
        all if all as u64 == u64::from(info.cpus) => plural(info.cpus.into(), "CPU"),
        1 => format!("CPU {seen}"),
        _ => format!("CPUs {seen}"),
    }
}

/// Cause and culprit of a verdict in one cell.
pub(crate) fn because(verdict: &Verdict) -> String {
    match &verdict.by {
        Some(by) => format!("{}, {}", verdict.cause, culprit(by)),
        None => verdict.cause.to_string(),
    }
}

/// How far a damaged recording can be relied on; `None` of one that is whole.
pub(crate) fn quality(trace: &TraceInfo) -> Option<&'static str> {
    match trace.quality() {
        Quality::Whole => None,
        Quality::Damaged => Some("damaged: answers near the gaps are less sure, others are not touched"),
        Quality::Poor => Some("poor: much is missing or in doubt, so no answer is more than a hint"),
    }
}

/// How late, in words: by when it ran, or by when it was done where that is the news.
pub(crate) fn lateness(activation: &Activation) -> String {
    let response = activation.response();
    // Where the trace begins in the middle of it, when it was due is not known.
    let since = match activation.trigger {
        Trigger::TraceStart => "it was first seen",
        Trigger::Marker => "its marker",
        _ => "it was due",
    };
    match activation.latency() {
        _ if activation.running.is_none() && only_its_interrupt(activation) => {
            format!("the timer's interrupt came {response} after {since}, where the recording ends")
        }
        _ if activation.running.is_none() => format!("had not run {response} after {since}"),
        Some(latency) if activation.trigger == Trigger::Running => format!("went on {latency} later"),
        Some(latency) if latency + latency >= response => format!("ran {latency} after {since}"),
        _ if activation.done.is_some() => format!("was done {response} after {since}"),
        _ => format!("was still not done {response} after {since}"),
    }
}

/// What is shown of an activation of which the recording has one instant, in place of shares of nothing.
pub(crate) fn one_instant(activation: &Activation) -> Option<String> {
    (activation.response() == Ns::ZERO).then(|| {
        format!(
            "seen only at {} on CPU {}: the recording has no whole activation of it, so neither a latency nor a cause",
            instant(activation.due),
            activation.cpu
        )
    })
}

/// A critical section in a few words: which tracer, where, how long, whose.
pub(crate) fn section(section: &CriticalSection) -> Vec<String> {
    let mut parts =
        vec![section.tracer.name().to_owned(), format!("CPU {}", section.cpu), section.latency.to_string()];
    parts.extend(section.thread.as_ref().map(|thread| match section.context {
        CpuContext::Irq => format!("an interrupt upon {}", culprit(thread)),
        CpuContext::Softirq => format!("a softirq upon {}", culprit(thread)),
        CpuContext::Thread => culprit(thread),
    }));
    parts
}

/// The heading above the times of a section's functions.
pub(crate) fn part_times(times: FunctionTimes) -> &'static str {
    match times {
        FunctionTimes::Own => "own time",
        FunctionTimes::UntilNext | FunctionTimes::None => "until the next",
    }
}

/// `48.00 us at 0.000004, between a and b`
pub(crate) fn gap(gap: &Gap) -> String {
    let place = match (clean(&gap.after), clean(&gap.before)) {
        (after, before) if after.is_empty() && before.is_empty() => String::new(),
        (after, before) if before.is_empty() => format!(", after {after}"),
        (after, before) if after.is_empty() => format!(", before {before}"),
        (after, before) if after == before => format!(", in {after}"),
        (after, before) => format!(", between {after} and {before}"),
    };
    format!("{} at {}{place}", gap.length, instant(gap.start))
}

/// True of an activation of which another tool measured the timer's interrupt, and nothing behind it.
fn only_its_interrupt(activation: &Activation) -> bool {
    let before = [Cause::TimerLate, Cause::IdleExit, Cause::IrqsDisabled, Cause::Irq, Cause::Nmi];
    activation.trigger == Trigger::Timer
        && activation.woken.is_none_or(|woken| woken >= activation.end)
        && activation.ledger.iter().all(|segment| before.contains(&segment.cause))
}

/// An observation without its instant: `CPU 1: switched from ... to ...`.
pub(crate) fn observation(evidence: &Evidence) -> String {
    match evidence.cpu {
        Some(cpu) => format!("CPU {cpu}: {}", clean(&evidence.what)),
        None => clean(&evidence.what),
    }
}

/// A kind of event, as the schema names it.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Switch => "switch",
        Kind::Waking => "waking",
        Kind::Wakeup => "wakeup",
        Kind::Migrate => "migrate",
        Kind::Fork => "fork",
        Kind::Exec => "exec",
        Kind::Exit => "exit",
        Kind::PiSetprio => "pi-setprio",
        Kind::BlockedReason => "blocked-reason",
        Kind::Irq => "irq",
        Kind::Vector => "vector",
        Kind::Softirq => "softirq",
        Kind::HrtimerStart => "hrtimer-start",
        Kind::HrtimerExpire => "hrtimer-expire",
        Kind::TimerExpire => "timer-expire",
        Kind::Syscall => "syscall",
        Kind::PageFault => "page-fault",
        Kind::Contention => "contention",
        Kind::CpuIdle => "cpu-idle",
        Kind::Nmi => "nmi",
        Kind::Signal => "signal",
        Kind::Marker => "marker",
        Kind::Function => "function",
        Kind::FunctionGraph => "function-graph",
        Kind::Stack => "stack",
        Kind::Timerlat => "timerlat",
        Kind::Osnoise => "osnoise",
        Kind::Hwlat => "hwlat",
        Kind::Preemptirq => "preemptirq",
        Kind::NapiPoll => "napi-poll",
        Kind::Packet => "packet",
        Kind::Work => "work",
        Kind::CpuCall => "cpu-call",
        Kind::CpuFrequency => "cpu-frequency",
        Kind::Kvm => "kvm",
        Kind::Lost => "lost",
        Kind::Other => "other",
    }
}

/// With its sign, where it has one.
pub(crate) fn signed(ns: Ns) -> String {
    if ns > Ns::ZERO { format!("+{ns}") } else { ns.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_send_escape_sequences() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\nd"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d");
        assert_eq!(thread(&Comm::from("rt\x07load"), Tid(3)), "rt\u{fffd}load:3");
    }

    #[test]
    fn instants_read_like_a_trace() {
        for (ns, text) in [
            (0, "0.000000"),
            (1_999_123_456, "1.999123"),
            (-1_500, "-0.000002"),
            (1_999_999_999, "2.000000"),
            (-400, "0.000000"),
            (i64::MAX, "9223372036.854776"),
            (i64::MIN, "-9223372036.854776"),
        ] {
            assert_eq!(instant(Ns(ns)), text);
        }
    }

    #[test]
    fn small_shares_do_not_vanish() {
        for (share, text) in [
            (0.0, "0.0 %"),
            (0.000_01, "<0.1 %"),
            (0.5, "50.0 %"),
            (0.999_9, ">99.9 %"),
            (1.0, "100.0 %"),
            (f64::NAN, "0.0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(48_213_901), "48,213,901");
        assert_eq!(plural(1, "event"), "1 event");
    }

    #[test]
    fn policies_are_named_where_known() {
        assert_eq!(scheduling(Some(Policy::Rr), Priority::realtime(99)), "rr 99");
        assert_eq!(scheduling(None, Priority::realtime(50)), "rt 50");
        assert_eq!(scheduling(Some(Policy::Deadline), Priority(-1)), "deadline");
        assert_eq!(scheduling(Some(Policy::Other), Priority::DEFAULT), "nice 0");
    }
}
