//! A wake-up that `wakeup`, `wakeup_rt` or `wakeup_dl` kept: one activation, from the wake-up to the switch.
//!
//! Its two lines of the scheduler are events like any other, so the ordinary ledger explains it; what the lines
//! between them show of functions is evidence on top. Where those two lines are gone, the header still has its
//! length.

use super::interrupted::is_primitive;
use super::intervals::Intervals;
use super::lines::{Line, Lines};
use super::{actors, cut_off};
use crate::assemble::{Assembler, on_cpu};
use crate::causes::Cause;
use crate::charge::attribution::Charge;
use crate::charge::notes::VerdictNote;
use crate::model::{Activation, CpuTrack, Culprit, OnCpu, Slice};
use crate::timeline::Timeline;
use crate::timeline::standing::{OFTEN, Standing};
use whylate_base::{Confidence, Cpu, Evidence, Ns, Priority, Tid};
use whylate_events::{ContextFlags, LatencyTrace, TraceInfo};

/// Intervals without a line that are listed.
const GAPS: usize = 3;
/// An interval shorter than this share of the latency is not listed.
const NOTABLE: i64 = 10;
/// Callers that are named.
const CALLERS: usize = 3;
/// Frames of a stack that are shown.
const FRAMES: usize = 8;
/// Header and lines differ notably by one part in this many.
const DIFFER: i64 = 40;

/// The activation by the header, where the scheduler's lines do not give one.
pub(super) fn by_header(assembler: &mut Assembler<'_>, trace: &LatencyTrace, lines: &Lines) {
    let Some(task) = trace.task else { return };
    let all = lines.between(Ns(i64::MIN), Ns::MAX);
    let last = all.last();
    let woken = lines.woken.get(&task.tid).copied();
    // The tracers of 2005 measured on until the switch was over: upon the thread itself, to their last line.
    let goes_on = woken.zip(last).is_some_and(|(woken, last)| {
        let rest = (woken + trace.latency - last.at).0.saturating_abs();
        last.tid == task.tid && rest.saturating_mul(DIFFER) <= trace.latency.0
    });
    let shown = assembler.stats.get(task.tid).and_then(|stats| {
        stats
            .worst
            .iter()
            .filter_map(|kept| kept.activation.latency())
            .filter(|shown| *shown > Ns::ZERO)
            .max()
    });
    let seen = shown.is_some_and(|shown| shown + shown >= trace.latency);
    // Clocks of two CPUs disagree, or lines were left out: the tracer's own measurement is what is known.
    let apart = shown.filter(|_| !goes_on);
    let other_cpu = last.is_none();
    let left_out = other_cpu && assembler.scope().is_some();
    if seen || left_out || trace.latency <= Ns::ZERO {
        return;
    }
    // Times count from the wake-up, and the end may be cut off.
    let from_wakeup = all
        .first()
        .is_some_and(|first| first.at >= Ns::ZERO && first.at.0.saturating_mul(DIFFER) <= trace.latency.0);
    let last = last.map(|line| if from_wakeup { line.at.max(trace.latency) } else { line.at });
    let switched = lines.switched_to.get(&task.tid).copied().filter(|_| !goes_on && apart.is_none());
    // Where only one of the two lines is there, the tracer's length gives the other.
    let woken = woken.filter(|_| switched.is_none());
    // A tracer whose lines are of another CPU than its header counts from the wake-up, as others do.
    let running = woken.map(|woken| woken + trace.latency).or(switched).or(last).unwrap_or(trace.latency);
    let due = running - trace.latency;
    // What was taken for one, without its beginning.
    assembler.stats.remove(task.tid);
    let thread = assembler.timeline_mut().threads.get_mut(task.tid);
    if thread.comm_at(running).is_empty() {
        thread.assume_name(task.comm);
    }
    if task.rt_priority > 0 {
        thread.assume_priority(Priority::realtime(task.rt_priority.min(99) as i32));
    }
    let priority = thread.own_priority_at(due);
    let comm = thread.comm_at(running);
    let mut intervals = Intervals::new(trace.cpu, due, running);
    let mut slices = Vec::new();
    // The lines contradict the header: whom the time went to they do not show.
    let window = if apart.is_some() { &[] } else { lines.between(due, running) };
    let is_cut =
        trace.entries.is_some_and(|entries| lines.count().saturating_mul(10) < entries.saturating_mul(9));
    for (i, line) in window.iter().enumerate() {
        let next_line = window.get(i + 1);
        let following = next_line.map(|next| next.at);
        // What the tracer itself took is no handler's time.
        let saves_stack = next_line.is_some_and(Line::is_stack);
        let next = following.unwrap_or(running);
        // Of an excerpt's last line only the time is known until which it goes on.
        let is_end = is_cut && following.is_none();
        let handler =
            line.flags.in_interrupt().then(|| handler(assembler.timeline(), trace.cpu, line.at, next));
        let (charge, on_cpu) = if let Some((mut charge, on_cpu)) = handler.flatten() {
            charge.confidence = if is_cut { Confidence::Low } else { charge.confidence };
            (if saves_stack { Charge::unexplained() } else { charge }, on_cpu)
        } else if is_end && (next - line.at).0.saturating_mul(NOTABLE) >= trace.latency.0 {
            let late = (task.tid, priority);
            let first = cut_off::charge(assembler.timeline(), window, (due, trace.latency), late);
            (first.unwrap_or_else(Charge::unexplained), OnCpu::Unknown)
        } else if line.tid.is_idle() {
            (Charge::to(Cause::Dispatch, None, Confidence::Low), OnCpu::Idle)
        } else if line.tid == task.tid {
            (
                // What kept the CPU on its way to the thread, no line shows.
                Charge::to(Cause::Dispatch, None, if goes_on { Confidence::Low } else { Confidence::Medium }),
                OnCpu::Task { tid: task.tid, comm, priority },
            )
        } else {
            let culprit = actors::task(assembler.timeline(), line.at, line.tid, "");
            let on_cpu = match culprit {
                Culprit::Task { tid, comm, priority } => OnCpu::Task { tid, comm, priority },
                _ => OnCpu::Unknown,
            };
            let mut charge = before_the_switch(culprit, window, priority);
            if charge.cause == Cause::PreemptionDisabled
                && following.is_some_and(|_| lines.is_irqs_off(line, next_line, is_cut))
            {
                charge.cause = Cause::IrqsDisabled;
                charge.confidence = charge.confidence.min(Confidence::Medium);
            }
            if charge.cause == Cause::FairQueue && assembler.timeline().may_rank_by_nice(line.at) {
                charge.confidence = Confidence::Low;
            }
            (charge, on_cpu)
        };
        intervals.fill(line.at, next, next - line.at, charge);
        if line.at < next {
            slices.push(Slice { start: line.at, end: next, on_cpu });
        }
    }
    let activation = Activation {
        cpu: trace.cpu,
        woken: Some(due),
        running: Some(running),
        ledger: intervals.finish(|_, _| Charge::unexplained()),
        tracks: vec![CpuTrack { cpu: trace.cpu, slices }],
        ..Activation::of(task.tid, comm, priority, due, running)
    };
    let ran_elsewhere = lines.ran_elsewhere(task.tid).filter(|_| woken.is_none() && other_cpu);
    let contradicted = apart.map(|apart| {
        format!(
            "its lines show the wake-up and the switch {apart} apart: the rest of the tracer's own measurement they do not show, for \
             clocks of two CPUs disagree, or lines are missing"
        )
    });
    let note = match woken {
        Some(_) if goes_on => {
            "the tracer measured until the switch was over: when it ran is from the tracer's own measurement"
        }
        Some(_) => {
            "the switch to it is not among the lines: when it ran is from the tracer's own measurement"
        }
        None if from_wakeup && switched.is_none() => {
            "the scheduler's own lines are not among them: when it was due and when it ran are from the tracer's own \
             measurement"
        }
        None if ran_elsewhere.is_some() => {
            "no line is of the header's CPU: when it ran is from the tracer's own measurement"
        }
        None if other_cpu => {
            "no line is of the header's CPU: the tracer's own measurement is all that the file has of this wake-up"
        }
        None => {
            "the wake-up itself is not among the lines: the due time is from the tracer's own measurement"
        }
    };
    let mut notes = vec![Evidence::general(contradicted.unwrap_or_else(|| note.to_owned()))];
    notes.extend(window.first().and_then(|first| of_kernel_thread(assembler.timeline(), lines, first)));
    notes.extend(ran_elsewhere.map(|ran| {
        Evidence::general(format!(
            "its lines contradict the header: they are of another CPU, on which {} has a line {ran} after the first",
            task.comm
        ))
    }));
    let stands = not_preempted(window, task.tid, trace.latency);
    notes.extend(stands.as_ref().and_then(|(tid, _)| {
        let own = window.iter().filter(|line| line.tid == *tid && is_asked(line));
        let callers = lines.callers(own, CALLERS);
        let who = actors::called(assembler.timeline(), due, *tid);
        (!callers.is_empty()).then(|| {
            Evidence::general(format!("most rows of {who} there are called from {}", callers.join(", ")))
        })
    }));
    let mut notes: Vec<VerdictNote> = notes.into_iter().map(VerdictNote::from).collect();
    notes.extend(stands.map(|(tid, standing)| VerdictNote::GoesOn(tid, standing)));
    assembler.keep_measured(activation, notes, true);
}

/// True of a line of a thread that is to give its CPU to another one.
fn is_asked(line: &Line) -> bool {
    line.flags.contains(ContextFlags::NEED_RESCHED) && !line.flags.in_interrupt() && !line.is_stack()
}

/// The thread that went on for at least half of the latency though it was to give way, with preemption and interrupts enabled in most of its
/// lines: a fully preemptible kernel switches there at once, so that this one does not preempt in the kernel.
fn not_preempted(window: &[Line], victim: Tid, latency: Ns) -> Option<(Tid, Standing)> {
    let of_another = |line: &&Line| is_asked(line) && line.tid != victim && !line.tid.is_idle();
    let tid = window.iter().rfind(of_another)?.tid;
    let own = window.iter().filter(|line| is_asked(line) && line.tid == tid);
    let all = own.clone().count();
    let is_enabled = |line: &&Line| {
        line.preempt_depth == Some(0)
            && !line.flags.irqs_off()
            && !line.flags.contains(ContextFlags::SOFTIRQS_OFF)
    };
    let mut enabled = own.filter(is_enabled);
    let samples = enabled.clone().count();
    let from = enabled.next()?.at;
    let to = enabled.next_back()?.at;
    let is_most = samples >= OFTEN && samples.saturating_mul(2) > all;
    (is_most && (to - from).0.saturating_mul(2) >= latency.0)
        .then_some((tid, Standing { samples, by_rows: true, from, to, item: None }))
}

/// The interrupt or softirq that had the CPU in `from..to`, and its charge. Only the flags of lines show it.
fn handler(timeline: &Timeline, cpu: Cpu, from: Ns, to: Ns) -> Option<(Charge, OnCpu)> {
    timeline.cpus.get(cpu)?.between(from, to).find_map(|(start, _, slice)| {
        let on_cpu = on_cpu(timeline, slice.running, start);
        let (cause, by) = match on_cpu {
            OnCpu::Irq { irq, name } => (Cause::Irq, Culprit::Irq { irq, name }),
            OnCpu::Softirq { vec } => (Cause::Softirq, Culprit::Softirq { vec }),
            _ => return None,
        };
        Some((Charge::to(cause, Some(by), Confidence::Medium), on_cpu))
    })
}

/// Which kernel thread had the CPU at a line, where the trace lacks its name.
fn of_kernel_thread(timeline: &Timeline, lines: &Lines, line: &Line) -> Option<Evidence> {
    let known = timeline.threads.get(line.tid).map(|thread| thread.comm_at(line.at));
    if line.tid.is_idle() || known.is_some_and(|comm| !comm.is_empty() && !comm.as_str().starts_with('<')) {
        return None;
    }
    let function = lines.kernel_threads.get(&line.tid)?;
    let who = actors::called(timeline, line.at, line.tid);
    Some(Evidence::general(format!("by its stack {who} is a kernel thread, whose function is {function}")))
}

/// The charge for a thread that had the CPU between the wake-up and the switch. Where no line has its priority, only the
/// scheduler's own request that it give way shows that it should have.
fn before_the_switch(culprit: Culprit, window: &[Line], waiter: Priority) -> Charge {
    let Culprit::Task { tid, priority, .. } = culprit else { return Charge::unexplained() };
    if priority != Priority::UNKNOWN {
        return actors::in_front(culprit, true, waiter);
    }
    let mut own = window.iter().filter(|line| line.tid == tid && !line.flags.in_interrupt());
    let asked = own.clone().any(|line| line.flags.contains(ContextFlags::NEED_RESCHED));
    let is_off = own.clone().next().is_some() && own.all(|line| line.flags.irqs_off());
    match (asked, is_off) {
        (true, true) => Charge::to(Cause::IrqsDisabled, Some(culprit), Confidence::Medium),
        (true, false) => Charge::to(Cause::PreemptionDisabled, Some(culprit), Confidence::Medium),
        (false, _) => Charge::unexplained(),
    }
}

/// What the lines between wake-up and switch show beyond the threads that ran.
pub(super) fn notes(
    timeline: &Timeline,
    info: &TraceInfo,
    trace: &LatencyTrace,
    lines: &Lines,
    activation: &Activation,
) -> Vec<Evidence> {
    let mut notes = Vec::new();
    let (due, end) = (activation.due, activation.running.unwrap_or(activation.end));
    let spanned = end - due;
    if (trace.latency - spanned).0.saturating_abs().saturating_mul(DIFFER) > trace.latency.0 {
        notes.push(Evidence::general(format!(
            "the {} tracer measured {}; its lines, from wake-up to switch, span {spanned}",
            trace.tracer.name(),
            trace.latency
        )));
    }
    let window = lines.between(due, end);
    let notable = |time: Ns| time.0.saturating_mul(NOTABLE) >= spanned.0 && time > Ns::ZERO;
    let saving = Lines::saving_stacks(window) + lines.saving_elsewhere;
    if notable(saving) {
        notes.push(Evidence::general(format!(
            "the tracer itself took {saving} of it to save a stack (not without it: echo 0 > options/stacktrace)"
        )));
    }
    if let Some((printed, here)) = info.excerpt() {
        notes.push(Evidence::general(format!(
            "the file has {here} of the {printed} lines that the tracer printed: the functions between them are not known"
        )));
        notes.extend(by_mark(trace, lines, due, end));
        let longest = lines.longest_within(window);
        notes.extend(
            longest
                .filter(|gap| gap.length.0.saturating_mul(2) >= spanned.0)
                .map(|gap| Evidence::at(gap.start, trace.cpu, gap.to_string())),
        );
        return notes;
    }
    let step = Lines::clock_step(window);
    notes.extend(step.map(|step| {
        Evidence::general(format!(
            "all times of the trace are whole steps of {step}, as of a clock that counts so: none is more exact than that"
        ))
    }));
    // The victim's own first lines are its way in.
    let others: &[Line] = window.split(|line| line.tid == activation.tid).next().unwrap_or(window);
    let resched = |line: &Line| line.flags.contains(ContextFlags::NEED_RESCHED) && !line.flags.in_interrupt();
    notes.extend(run(lines, others, resched).filter(|run| notable(run.length)).map(|run| {
        let Run { at, length, tid, from, to } = run;
        let (who, where_) = (actors::called(timeline, at, tid), between(&from, &to));
        Evidence::at(at, trace.cpu, format!("need-resched was set, and {who} still ran for {length}{where_}"))
    }));
    let disabled = |line: &Line| line.flags.irqs_off() && !line.flags.in_interrupt();
    notes.extend(run(lines, others, disabled).filter(|run| notable(run.length)).map(|run| {
        let Run { at, length, tid, from, to } = run;
        let (who, where_) = (actors::called(timeline, at, tid), between(&from, &to));
        Evidence::at(
            at,
            trace.cpu,
            format!("interrupts were off in every line of {who} for {length}{where_}"),
        )
    }));
    if matches!(activation.verdict.cause, Cause::PreemptionDisabled | Cause::IrqsDisabled) {
        notes.extend(gave_way(&lines.stack_since(end)).map(Evidence::general));
    }
    let gaps = if step.is_some() { Vec::new() } else { lines.gaps(others, GAPS) };
    notes.extend(gaps.into_iter().filter(|gap| notable(gap.length)).map(|gap| {
        let before = others.partition_point(|line| line.at <= gap.start);
        let before = others.get(..before).unwrap_or_default();
        let after = others.iter().find(|line| line.at > gap.start);
        let state = before.last().map_or_else(String::new, |line| state_before(line, after));
        let caller = caller(lines, before, &gap.after);
        let what = format!("no line for {}{}{caller}{state}", gap.length, between(&gap.after, &gap.before));
        Evidence::at(gap.start, trace.cpu, what)
    }));
    notes
}

/// Where an excerpt stood still: of all lines that the tracer printed, the next one came so late.
pub(super) fn by_mark(trace: &LatencyTrace, lines: &Lines, due: Ns, end: Ns) -> Option<Evidence> {
    let marked = trace.marked.filter(|marked| marked.least.0.saturating_mul(NOTABLE) >= (end - due).0)?;
    let before = lines.between(due, marked.at);
    let line = before.last()?;
    let next = lines.between(marked.at, Ns::MAX).iter().find(|line| line.at > marked.at);
    let function = line.named().map_or("", |function| lines.name(function));
    let (after, caller) = (between(function, ""), caller(lines, before, function));
    let rest = next.map_or_else(String::new, |next| {
        format!("; the next line of the file is {} later", next.at - marked.at)
    });
    let state = state_before(line, next);
    let what =
        format!("by the mark behind its time, no line for over {}{after}{caller}{state}{rest}", marked.least);
    Some(Evidence::at(marked.at, trace.cpu, what))
}

/// What was disabled before a time without lines, by the line before it; the one after it may be in the same interrupt.
fn state_before(line: &Line, next: Option<&Line>) -> String {
    let hard = |line: &Line| line.flags.contains(ContextFlags::HARDIRQ);
    let depth = line.preempt_depth.filter(|&depth| depth > 0);
    match (hard(line), line.flags.irqs_off(), depth) {
        (true, ..) if next.is_some_and(hard) => ", in a hard interrupt".to_owned(),
        (true, ..) => ", which begins in a hard interrupt".to_owned(),
        (false, true, _) => ", with interrupts off before it".to_owned(),
        (false, false, Some(depth)) => format!(", with preemption disabled {depth} deep before it"),
        (false, false, None) => String::new(),
    }
}

/// The function before a lock's, which itself shows nothing of the work that its caller does.
fn caller(lines: &Lines, before: &[Line], function: &str) -> String {
    let mut names = before.iter().rev().filter_map(Line::function).map(|function| lines.name(function));
    let name = is_primitive(function).then(|| names.find(|name| !is_primitive(name))).flatten();
    name.map_or_else(String::new, |name| format!(", after {name}"))
}

/// Where the thread was that gave way at last, by the stack that the tracer saves at the switch: what disabled
/// preemption is often among its innermost functions.
fn gave_way(stack: &[String]) -> Option<String> {
    let scheduler = |name: &String| name.trim_start_matches('_').starts_with("schedule");
    let below = stack.iter().rposition(scheduler).and_then(|at| stack.get(at + 1..))?;
    let shown: Vec<&str> = below.iter().take(FRAMES).map(String::as_str).collect();
    (!shown.is_empty()).then(|| format!("the stack at the switch: {}", shown.join(" <- ")))
}

struct Run {
    at: Ns,
    length: Ns,
    tid: Tid,
    from: String,
    to: String,
}

/// The longest run of lines that are so, with the functions at its ends.
fn run(lines: &Lines, window: &[Line], holds: impl Fn(&Line) -> bool) -> impl Iterator<Item = Run> {
    let run = Lines::longest_run(window, holds).and_then(|run| {
        let (first, last) = (run.first()?, run.last()?);
        let mut functions = run.iter().filter_map(Line::function);
        let from = functions.next();
        let to = functions.next_back().or(from);
        let name = |function: Option<u32>| {
            function.map_or_else(String::new, |function| lines.name(function).to_owned())
        };
        Some(Run { at: first.at, length: last.at - first.at, tid: first.tid, from: name(from), to: name(to) })
    });
    run.into_iter()
}

/// ` between a and b`, as far as they are known.
fn between(after: &str, before: &str) -> String {
    match (after, before) {
        ("", "") => String::new(),
        (after, before) if after == before => format!(", in {after}"),
        (after, "") => format!(", after {after}"),
        ("", before) => format!(", up to {before}"),
        (after, before) => format!(", between {after} and {before}"),
    }
}
