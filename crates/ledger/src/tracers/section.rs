//! A critical section from the lines of `irqsoff`, `preemptoff` or `preemptirqsoff`.
//!
//! The tracer's header has its length; the lines show where its time went. A function tracer's line shows an entry
//! only, so the time up to the next line is the function's or its caller's; the function graph gives each function
//! its own. (Documentation/trace/ftrace.rst)

mod advice;
mod entries;
mod harmless;
mod step;
mod times;

use self::advice::{Shown, fix};
use self::entries::{is_interrupt, is_of_own_timer, is_softirq, is_way_in};
use self::harmless::{Harmless, harmless, is_idle_task};
use self::step::{of_step, within_a_step};
use self::times::parts;
use super::interrupted::responsible;
use super::lines::{Line, Lines};
use crate::causes::Cause;
use crate::causes::advised::FINER_CLOCK;
use crate::model::Culprit;
use crate::model::section::{CpuContext, CriticalSection, FunctionTimes, Gap};
use crate::timeline::Timeline;
use whylate_base::{AdvisedFix, Confidence, Evidence, Finding, Ns, Priority, Severity};
use whylate_events::{LatencyTrace, LatencyTracer, Quality, TraceInfo};

/// Functions that are listed.
const PARTS: usize = 20;
/// Intervals without a line that are listed.
const GAPS: usize = 5;
/// A section of this length makes threads late.
const NOTABLE: Ns = Ns::from_us(50);
/// A function that took a smaller share is not where the time went.
const MOST: f64 = 0.2;
/// Threads that run softirqs, and interrupt no other.
const SOFTIRQ_THREADS: [&str; 3] = ["ksoftirqd/", "ktimers/", "ktimersoftd/"];
/// Before this kernel the flag `s` of a line meant disabled softirqs as well (kernel/trace/trace.c, 4.7).
const FLAG_MEANS_SERVING: (u32, u32) = (4, 7);
/// What helps against a time in which no code of the kernel ran.
const OF_A_STALL: &str = "run the hwlat tracer on this CPU (rtla hwnoise), which shows whether the hardware or the firmware stops it; in a \
                          virtual machine, record the host as well";
/// Functions that are named where the times of all are not known.
const NAMED: usize = 3;

/// The critical section that `trace` is of.
pub(super) fn section(
    timeline: &Timeline,
    info: &TraceInfo,
    trace: &LatencyTrace,
    lines: &Lines,
    preempt_rt: Option<bool>,
) -> CriticalSection {
    // Without the header's line the lines have its length.
    let latency = match trace.latency {
        Ns::ZERO => lines.span(),
        latency => latency.max(Ns::ZERO),
    };
    // The tracer's lines count from the section's beginning (`start_critical_timing`, kernel/trace/trace_irqsoff.c).
    let first = lines.first().map_or(Ns::ZERO, |line| line.at);
    let is_relative = info.latency.is_some() && trace.latency > Ns::ZERO && first < latency;
    let start = if is_relative { first.min(Ns::ZERO) } else { first };
    let end = start + latency;
    let within = lines.between(start, end);
    let excerpt = info.excerpt();
    let ends = [trace.started_at.as_deref(), trace.ended_at.as_deref()];
    let (mut parts, times) = match excerpt {
        // Which lines follow on one another is not known.
        Some(_) => (Vec::new(), FunctionTimes::None),
        None => parts(lines, within, (start, end), ends),
    };
    let charged: Ns = parts.iter().map(|part| part.time).sum();
    let rest: Ns = parts.iter().skip(PARTS).map(|part| part.time).sum();
    parts.truncate(PARTS);
    let first =
        within.iter().find_map(|line| lines.shown(line)).map(|function| lines.name(function).to_owned());
    // An excerpt of its end does not show its beginning.
    let is_end = within.first().is_some_and(|line| (line.at - start).0.saturating_mul(10) > latency.0);
    let opened_by = trace.started_at.clone().or(first.filter(|_| !is_end));
    let context = context(info, trace, lines, within, opened_by.as_deref());
    let thread = trace.task.map(|task| {
        let known = timeline
            .threads
            .get(task.tid)
            .filter(|thread| thread.ever_realtime)
            .map(|thread| thread.own_priority_at(start));
        let priority = match task.rt_priority {
            0 => known.unwrap_or(Priority::UNKNOWN),
            rt => Priority::realtime(rt.min(99) as i32),
        };
        Culprit::Task { tid: task.tid, comm: task.comm, priority }
    });
    let unexplained = latency - charged;
    let confidence = match times {
        FunctionTimes::None => Confidence::Low,
        _ if lines.cut || unexplained.0.saturating_mul(10) > latency.0 => Confidence::Low,
        FunctionTimes::UntilNext => Confidence::Medium,
        FunctionTimes::Own => Confidence::High,
    };
    let confidence = match info.quality() {
        Quality::Poor => Confidence::Low,
        _ if !info.damage.is_empty() => confidence.min(Confidence::Medium),
        _ => confidence,
    };
    let mut section = CriticalSection {
        tracer: trace.tracer,
        cpu: trace.cpu,
        thread,
        context,
        delays: true,
        opened_by,
        closed_by: trace.ended_at.clone(),
        start,
        latency,
        parts,
        rest,
        unexplained,
        times,
        gaps: if excerpt.is_some() { Vec::new() } else { lines.gaps(within, GAPS) },
        stack: lines.stack(),
        confidence,
        why: String::new(),
        fix: Vec::new(),
    };
    let shown = lines.most_named(within, NAMED);
    let harmless = harmless(lines, &section, within, excerpt.is_some());
    section.delays = harmless.is_none();
    section.why = why(&section, excerpt, &shown);
    // Of a whole trace the functions' times show it.
    let longest = lines.longest_within(within).filter(|gap| gap.length.0.saturating_mul(2) >= latency.0);
    let stood_in = longest.filter(|_| section.times == FunctionTimes::None);
    if let Some(stood_in) = &stood_in {
        section.why.push_str(&format!("; {stood_in}"));
    } else if let Some(stood) = excerpt.and_then(|excerpt| nearly_whole(&section, excerpt, lines, within)) {
        section.why.push_str(&stood);
    }
    let handler = lines.handler(within);
    if let Some(handler) = handler {
        section.why.push_str(&format!("; the interrupt's handler is {handler}"));
    }
    let of_own_timer = |line: &Line| line.named().is_some_and(|name| is_of_own_timer(lines.name(name)));
    let is_of_timer =
        section.opened_by.as_deref().is_some_and(is_of_own_timer) || within.iter().any(of_own_timer);
    let shown = Shown {
        stood_in,
        handler,
        functions: lines.shows_functions(within, (start, end), ends),
        within: responsible(&section.stack).and_then(|of_stack| lines.called_from(within, of_stack)),
        is_own_timer: is_of_timer && section.context == CpuContext::Irq,
    };
    section.fix = fix(preempt_rt, &section, shown);
    let stalled = section
        .gaps
        .first()
        .filter(|gap| gap.length.0.saturating_mul(2) >= latency.0 && is_way_in(&gap.after, &gap.before));
    if let Some(gap) = stalled {
        section.why.push_str(&format!(
            "; for {} the CPU was between the interrupt's entry and its handler, where the kernel has nothing to do: the \
             hypervisor, the firmware (SMI) or a step of the clock took that time",
            gap.length
        ));
        section.fix = vec![OF_A_STALL.to_owned()];
    }
    if let Some(harmless) = harmless {
        (section.why, section.fix) = of_harmless(&section, harmless, excerpt);
    }
    if let Some(step) = within_a_step(&section, lines.step()) {
        section.confidence = Confidence::Low;
        section.why.push_str(&format!("; {}", of_step(step)));
        section.fix = vec![FINER_CLOCK.to_owned()];
    }
    section
}

/// Whose section it is.
fn context(
    info: &TraceInfo,
    trace: &LatencyTrace,
    lines: &Lines,
    within: &[Line],
    opened_by: Option<&str>,
) -> CpuContext {
    let runs_softirqs = trace
        .task
        .is_some_and(|task| SOFTIRQ_THREADS.iter().any(|name| task.comm.as_str().starts_with(name)));
    let first = within.iter().find_map(Line::function).map(|function| lines.name(function));
    let in_irq = within.iter().filter(|line| line.within() == CpuContext::Irq).count();
    match within.first().map(Line::within) {
        Some(CpuContext::Irq) => CpuContext::Irq,
        // The first lines may be on the way into the interrupt, which no other one comes upon.
        _ if trace.tracer == LatencyTracer::Irqsoff && in_irq > within.len() / 2 => CpuContext::Irq,
        _ if opened_by.is_some_and(is_interrupt) || first.is_some_and(is_interrupt) => CpuContext::Irq,
        _ if runs_softirqs => CpuContext::Thread,
        _ if opened_by.is_some_and(is_softirq) => CpuContext::Softirq,
        Some(CpuContext::Softirq) if kernel(info).is_some_and(|kernel| kernel >= FLAG_MEANS_SERVING) => {
            CpuContext::Softirq
        }
        _ => CpuContext::Thread,
    }
}

/// Major and minor version.
fn kernel(info: &TraceInfo) -> Option<(u32, u32)> {
    let mut numbers = info.kernel_release.as_deref()?.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// True where the functions within the section were traced, and not only those at its ends.
pub(super) fn shows_within(lines: &Lines, section: &CriticalSection) -> bool {
    let end = section.start + section.latency;
    let ends = [section.opened_by.as_deref(), section.closed_by.as_deref()];
    lines.shows_functions(lines.between(section.start, end), (section.start, end), ends)
}

/// `excerpt`: how many lines the tracer printed, and how many of them are in the text.
fn of_harmless(
    section: &CriticalSection,
    harmless: Harmless,
    excerpt: Option<(u64, u64)>,
) -> (String, Vec<String>) {
    let (cpu, latency, place) = (section.cpu, section.latency, where_from(section));
    match harmless {
        Harmless::Idle => (
            format!(
                "CPU {cpu} was idle for {latency}{place}: it slept with interrupts disabled, and an interrupt wakes it \
                 all the same; no thread was delayed"
            ),
            vec![
                "measure again without it: echo 0 > tracing_max_latency, with the CPU busy or booted with cpuidle.off=1"
                    .to_owned(),
            ],
        ),
        Harmless::Spin => {
            let by = section.thread.map_or_else(|| "a thread".to_owned(), |thread| thread.to_string());
            let seen = match excerpt {
                Some((printed, here)) => {
                    format!("none of the {here} lines here, of {printed}, shows that a thread was delayed")
                }
                None => "no thread was delayed".to_owned(),
            };
            (
                format!(
                    "{by} spun for a lock on CPU {cpu} for {latency}{place}: preemption is disabled meanwhile, and the \
                     spin ends when another thread is to run; {seen}"
                ),
                vec![
                    "trace the wake-ups of the thread that must not be late (wakeup_rt, `whylate record`): preemptoff counts \
                     such spins"
                        .to_owned(),
                ],
            )
        }
    }
}

/// The finding that goes with it.
///
/// `lines`: those of the tracer that measured it, some of them where it is an excerpt.
pub(super) fn finding(
    deadline: Option<Ns>,
    section: &CriticalSection,
    lines: Option<&Lines>,
    is_excerpt: bool,
) -> Finding {
    let in_doubt = within_a_step(section, lines.and_then(Lines::step));
    let end = section.start + section.latency;
    let resched = lines.and_then(|lines| lines.need_resched(section.start, end));
    let severity = match deadline {
        _ if !section.delays || in_doubt.is_some() => Severity::Info,
        Some(deadline) if section.latency > deadline => Severity::Error,
        _ if section.latency >= NOTABLE => Severity::Warning,
        _ => Severity::Info,
    };
    let mut evidence: Vec<Evidence> = section
        .gaps
        .iter()
        .take(2)
        .filter(|gap| gap.length.0.saturating_mul(5) >= section.latency.0)
        .map(|gap| {
            let between = match (gap.after.as_str(), gap.before.as_str()) {
                ("", "") => String::new(),
                (after, "") => format!(" after {after}"),
                ("", before) => format!(" before {before}"),
                (after, before) => format!(" between {after} and {before}"),
            };
            Evidence::at(gap.start, section.cpu, format!("no line for {}{between}", gap.length))
        })
        .collect();
    if !section.stack.is_empty() {
        let stack: Vec<&str> = section.stack.iter().take(6).map(String::as_str).collect();
        evidence.push(Evidence::general(format!("the stack at its end: {}", stack.join(" <- "))));
    }
    Finding {
        code: match section.tracer {
            LatencyTracer::Irqsoff => Cause::IrqsDisabled.code(),
            _ => Cause::PreemptionDisabled.code(),
        },
        severity,
        title: match section.delays {
            true => format!(
                "{} on CPU {} for {}{}{}",
                what_was_off(section.tracer),
                section.cpu,
                if in_doubt.is_some() { "at most " } else { "" },
                section.latency,
                where_from(section)
            ),
            false => format!(
                "{} on CPU {} for {}{}",
                what_was_off(section.tracer),
                section.cpu,
                section.latency,
                if is_excerpt {
                    ": no line here shows that it delayed a thread"
                } else {
                    ", and delayed no thread"
                }
            ),
        },
        why: match section.delays {
            _ if let Some(step) = in_doubt => of_step(step),
            true => format!(
                "a thread that became due on this CPU in that time was late by up to {}; {}",
                section.latency,
                match resched {
                    Some(at) if at == section.start =>
                        "one was to run: need-resched is set in the first line".to_owned(),
                    Some(at) => format!(
                        "one was to run: need-resched is set {}{} after its beginning",
                        if is_excerpt { "at the latest " } else { "" },
                        at - section.start
                    ),
                    None => "the trace does not show whether one did".to_owned(),
                }
            ),
            false => section.why.clone(),
        },
        evidence,
        fix: section.fix.iter().map(|line| AdvisedFix::by_hand(line.clone(), OF_SECTION)).collect(),
    }
}

/// Why no setting shortens a section.
const OF_SECTION: &str = "the code of the kernel or of a driver is to be found and changed";

fn what_was_off(tracer: LatencyTracer) -> &'static str {
    match tracer {
        LatencyTracer::Irqsoff => "interrupts were off",
        LatencyTracer::Preemptoff => "preemption was off",
        _ => "interrupts or preemption were off",
    }
}

/// ` from do_IRQ to irq_exit`
fn where_from(section: &CriticalSection) -> String {
    match (&section.opened_by, &section.closed_by) {
        (Some(opened), Some(closed)) if opened == closed => format!(", in {opened}"),
        (Some(opened), Some(closed)) => format!(", from {opened} to {closed}"),
        (Some(opened), None) => format!(", from {opened} on"),
        (None, Some(closed)) => format!(", to {closed}"),
        (None, None) => String::new(),
    }
}

/// Where most of the time has no line, in an excerpt that lacks few: of one that lacks many it shows nothing.
fn nearly_whole(
    section: &CriticalSection,
    (printed, here): (u64, u64),
    lines: &Lines,
    within: &[Line],
) -> Option<String> {
    let few = printed.saturating_sub(here).saturating_mul(4) <= printed;
    let gap = lines.gaps(within, 1).pop().filter(|gap| gap.length.0.saturating_mul(2) >= section.latency.0);
    let Gap { length, after, before, .. } = gap.filter(|_| few)?;
    let named = !after.is_empty() && !before.is_empty();
    named.then(|| format!("; it has no line for {length} of it, between {after} and {before}"))
}

/// `; most of those lines name lock_it (7), wait (2)`. Functions that stand in one line each are not most of them.
fn named_lines(shown: &[(&str, usize)]) -> String {
    let is_repeated = shown.iter().any(|&(_, count)| count > 1);
    let named: Vec<String> = match is_repeated {
        true => shown.iter().map(|(name, count)| format!("{name} ({count})")).collect(),
        false => shown.iter().map(|(name, _)| (*name).to_owned()).collect(),
    };
    match (named.is_empty(), is_repeated) {
        (true, _) => String::new(),
        (_, true) => format!("; most of those lines name {}", named.join(", ")),
        (_, false) => format!("; among those lines are {}", named.join(", ")),
    }
}

fn why(section: &CriticalSection, excerpt: Option<(u64, u64)>, shown: &[(&str, usize)]) -> String {
    let who = match (&section.thread, section.context) {
        (Some(thread), CpuContext::Irq) => format!(", in an interrupt that hit {thread}"),
        (Some(thread), CpuContext::Softirq) => format!(", in a softirq that ran upon {thread}"),
        (None, CpuContext::Irq) => ", in an interrupt".to_owned(),
        (None, CpuContext::Softirq) => ", in a softirq".to_owned(),
        (Some(Culprit::Task { tid, comm, .. }), CpuContext::Thread) if is_idle_task(*tid, comm.as_str()) => {
            ", by the idle task".to_owned()
        }
        (Some(thread), CpuContext::Thread) => format!(", by {thread}"),
        (None, CpuContext::Thread) => String::new(),
    };
    let latency = section.latency.0.max(1) as f64;
    let most = section.parts.first().filter(|part| part.time.0 as f64 / latency >= MOST);
    let spent = match (section.times, most) {
        (FunctionTimes::None, _) if let Some((printed, here)) = excerpt => {
            let named = named_lines(shown);
            format!(
                "; the file has {here} of the {printed} lines the tracer printed, so the times of its functions are not \
                 known{named}"
            )
        }
        (FunctionTimes::None, _) => "; the recording does not show which functions took the time".to_owned(),
        (FunctionTimes::Own, Some(part)) => {
            format!("; {} of it was {} itself{}", part.time, part.function, times(part.calls))
        }
        (FunctionTimes::UntilNext, Some(part)) => {
            format!(
                "; {} of it passed between entering {} and the next function{}",
                part.time,
                part.function,
                times(part.calls)
            )
        }
        (_, None) => "; no single function took most of it".to_owned(),
    };
    let interrupts: Ns =
        section.parts.iter().filter(|part| part.within != CpuContext::Thread).map(|part| part.time).sum();
    let interrupted = match interrupts {
        Ns::ZERO => String::new(),
        _ if section.context != CpuContext::Thread => String::new(),
        time => format!("; interrupts and softirqs took {time} of it"),
    };
    format!(
        "{} on CPU {} for {}{}{who}{spent}{interrupted}",
        what_was_off(section.tracer),
        section.cpu,
        section.latency,
        where_from(section),
    )
}

fn times(calls: u64) -> String {
    if calls > 1 { format!(", in {calls} calls") } else { String::new() }
}
