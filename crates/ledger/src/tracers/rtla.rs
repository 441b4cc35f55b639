//! rtla's own analysis as an activation of the same ledger.
//!
//! Its parts are net times in the order in which they matter, without instants: the segments stand in that order
//! from the expiry on. What they leave of the total is unexplained; where they exceed it they are cut, and the
//! confidence is low. (tools/tracing/rtla/src/timerlat_aa.c)

use super::actors::{self, task};
use super::interrupted::{Interrupted, interrupted};
use crate::assemble::Assembler;
use crate::causes::Cause;
use crate::charge::attribution::Charge;
use crate::model::softirq_name;
use crate::model::{Activation, Culprit, Segment, Trigger};
use crate::timeline::Timeline;
use whylate_base::{Confidence, Cpu, Evidence, Ns, Priority, Tid};
use whylate_events::{Breakdown, BreakdownPart, Name, PartKind};

/// The priority rtla leaves its threads, the kernel's default.
const PRIORITY: i32 = 95;
/// From its entry to its sample, the timer's interrupt does not take longer.
const LONGEST_ENTRY: Ns = Ns::from_us(20);
/// Frames of a stack that are shown.
const FRAMES: usize = 12;

/// Makes the activation, and keeps it with the thread it is of.
pub(super) fn record(assembler: &mut Assembler<'_>, breakdown: &Breakdown) {
    let total = breakdown.total.max(Ns::ZERO);
    let (cpu, tid) = (breakdown.cpu, actors::unnamed(breakdown.cpu));
    let timeline = assembler.timeline_mut();
    // It has no instants; rtla prints it when it stops.
    let (tid, comm, priority) = actors::measured(timeline, timeline.now, cpu, tid, PRIORITY);
    let place = interrupted(&breakdown.stack);
    let blocker =
        breakdown.parts.iter().find(|part| part.kind == PartKind::BlockingThread && !part.name.is_empty());
    let timeline = assembler.timeline();
    let blocker = blocker.map(|part| thread(timeline, part));
    let pieces = pieces(timeline, breakdown, blocker, place.as_ref(), priority);
    let claimed: Ns = pieces.iter().map(|(time, _)| *time).sum();
    let mut ledger: Vec<Segment> = Vec::new();
    let mut at = Ns::ZERO;
    let exceeds = claimed > total;
    let mut add = |time: Ns, charge: Charge| {
        let end = (at + time).min(total);
        if end > at {
            let Charge { cause, by, owner, mut confidence } = charge;
            if exceeds {
                confidence = Confidence::Low;
            }
            ledger.push(Segment { cause, start: at, end, cpu: breakdown.cpu, by, owner, confidence });
            at = end;
        }
    };
    pieces.into_iter().for_each(|(time, charge)| add(time, charge));
    add(total, Charge::unexplained());
    let mut notes = notes(timeline, breakdown, blocker, place.as_ref());
    if exceeds {
        notes.push(Evidence::general(format!(
            "its parts add up to {claimed}, more than the {total} in all: the last parts are cut"
        )));
    }
    // An interrupt's latency alone is no switch to a thread.
    let handler = breakdown.part(PartKind::TimerIrq);
    let ran = handler.is_some() && !breakdown.is_cut;
    // The handler wakes the thread.
    let delay = breakdown.time_of(PartKind::IrqDelay).unwrap_or(Ns::ZERO);
    if breakdown.is_cut {
        notes.push(Evidence::general(format!(
            "the analysis ends before its total (`Thread latency:`): the latency is at least {total}, the sum of the parts \
             that it has"
        )));
    }
    let activation = Activation {
        cpu: breakdown.cpu,
        trigger: Trigger::Timer,
        woken: handler.map(|_| delay.clamp(Ns::ZERO, total)),
        running: ran.then_some(total),
        ledger,
        ..Activation::of(tid, comm, priority, Ns::ZERO, total)
    };
    assembler.keep_measured(activation, notes, true);
}

/// The parts that add up: of a sum with its parts listed, those; what they leave of it, without a name.
fn pieces(
    timeline: &Timeline,
    breakdown: &Breakdown,
    blocker: Option<Culprit>,
    place: Option<&Interrupted>,
    victim: Priority,
) -> Vec<(Ns, Charge)> {
    let mut pieces = Vec::new();
    let parts = &breakdown.parts;
    let mut i = 0;
    while let Some(part) = parts.get(i) {
        i += 1;
        let charge = |part: &BreakdownPart| charge(timeline, part, blocker, place, victim);
        // Measured from the expiry, too: the delay is part of it, and the handler up to its sample.
        if part.kind == PartKind::IrqLatency {
            if breakdown.part(PartKind::TimerIrq).is_none() {
                let delay: Ns = pieces.iter().map(|(time, _)| *time).sum();
                let rest = part.time.since(delay);
                let charge = match delay == Ns::ZERO && rest > LONGEST_ENTRY {
                    // The handler's first work is its sample: where rtla saw no delay, it did not see the handler begin.
                    true => late_interrupt(blocker, place, is_idle(blocker, parts), rest),
                    false => Charge::to(Cause::Irq, Some(actors::local_timer()), Confidence::Medium),
                };
                pieces.push((rest, charge));
            }
            continue;
        }
        if !part.is_sum {
            pieces.push((part.time.max(Ns::ZERO), charge(part)));
            continue;
        }
        let listed = parts.iter().skip(i).take_while(|next| next.kind == part.kind && !next.is_sum);
        let mut left = part.time.max(Ns::ZERO);
        for one in listed {
            i += 1;
            // Both are rounded to hundredths of a microsecond.
            let time = one.time.max(Ns::ZERO).min(left);
            left -= time;
            // Listed in a delay is an interrupt before the timer's own, which took that long at most.
            let charge = match one.kind {
                PartKind::IrqDelay => Charge::to(
                    Cause::Irq,
                    Some(actors::irq_named(Name::from("previous"), None)),
                    Confidence::Low,
                ),
                _ => charge(one),
            };
            pieces.push((time, charge));
        }
        pieces.push((left, charge(part)));
    }
    pieces
}

fn charge(
    timeline: &Timeline,
    part: &BreakdownPart,
    blocker: Option<Culprit>,
    place: Option<&Interrupted>,
    victim: Priority,
) -> Charge {
    let name = Name::from(part.name.as_str());
    let named = !part.name.is_empty();
    match part.kind {
        PartKind::IrqDelay => {
            let idle = is_idle(blocker, std::slice::from_ref(part));
            late_interrupt(blocker, place, idle, part.time)
        }
        PartKind::IrqLatency | PartKind::TimerIrq => {
            Charge::to(Cause::Irq, Some(actors::local_timer()), Confidence::High)
        }
        PartKind::Nmi => Charge::to(Cause::Nmi, None, Confidence::High),
        PartKind::Irq => {
            let by = named.then(|| actors::irq_named(name, part.id));
            Charge::to(Cause::Irq, by, Confidence::High)
        }
        PartKind::Softirq => {
            let by_name = (0..10).find(|&vec| softirq_name(vec) == part.name);
            let by = part.id.or(by_name).map(|vec| Culprit::Softirq { vec });
            Charge::to(Cause::Softirq, by, Confidence::High)
        }
        PartKind::BlockingThread | PartKind::Thread if named => {
            let blocking = part.kind == PartKind::BlockingThread;
            match thread(timeline, part) {
                // The CPU was idle: this is the kernel's path to the thread.
                Culprit::Task { tid: Tid::IDLE, .. } => Charge::to(Cause::Dispatch, None, Confidence::Medium),
                culprit => actors::in_front(culprit, blocking, victim),
            }
        }
        PartKind::BlockingThread => match blocker {
            Some(by) => actors::in_front(by, true, victim),
            None => Charge::to(Cause::PreemptionDisabled, None, Confidence::Low),
        },
        PartKind::Thread => Charge::to(Cause::HigherPriorityTask, None, Confidence::Low),
        PartKind::Hardware
        | PartKind::Smi
        | PartKind::MeanIrqLatency
        | PartKind::MeanThreadLatency
        | PartKind::Measured
        | PartKind::Noise
        | PartKind::LargestNoise
        | PartKind::AboveThreshold => Charge::to(Cause::Stolen, None, Confidence::Low),
    }
}

/// True where the timer's interrupt came upon an idle CPU, by the thread or by rtla's remark.
fn is_idle(blocker: Option<Culprit>, parts: &[BreakdownPart]) -> bool {
    matches!(blocker, Some(Culprit::Task { tid: Tid::IDLE, .. }))
        || parts.iter().any(|part| part.kind == PartKind::IrqDelay && part.name.contains("idle"))
}

/// Why the timer's interrupt came late: what it hit, and where.
fn late_interrupt(blocker: Option<Culprit>, place: Option<&Interrupted>, idle: bool, delay: Ns) -> Charge {
    match (blocker, place) {
        _ if idle && delay <= actors::LONGEST_IDLE_EXIT => {
            Charge::to(Cause::IdleExit, None, Confidence::Medium)
        }
        _ if idle => Charge::to(Cause::TimerLate, None, Confidence::Low),
        (Some(by), Some(Interrupted::Kernel { enabling: true, .. })) => {
            Charge::to(Cause::IrqsDisabled, Some(by), Confidence::Medium)
        }
        // Interrupts were off up to there, or the CPU stood still in that function.
        (Some(by), Some(Interrupted::Kernel { .. })) => {
            Charge::to(Cause::TimerLate, Some(by), Confidence::Medium)
        }
        (Some(by), None) => Charge::to(Cause::TimerLate, Some(by), Confidence::Low),
        _ => Charge::to(Cause::TimerLate, None, Confidence::Low),
    }
}

fn thread(timeline: &Timeline, part: &BreakdownPart) -> Culprit {
    let idle = part.name.starts_with("swapper/") || part.name == "<idle>";
    let id = part.id.and_then(|id| i32::try_from(id).ok());
    task(timeline, timeline.now, Tid(id.unwrap_or(if idle { 0 } else { -1 })), &part.name)
}

fn notes(
    timeline: &Timeline,
    breakdown: &Breakdown,
    blocker: Option<Culprit>,
    place: Option<&Interrupted>,
) -> Vec<Evidence> {
    let mut notes = Vec::new();
    if let Some(place) = place {
        let who = match blocker {
            Some(Culprit::Task { tid: Tid::IDLE, .. }) => actors::called(timeline, timeline.now, Tid::IDLE),
            Some(by) => by.to_string(),
            None => "the current thread".to_owned(),
        };
        notes.push(Evidence::general(actors::hit(&who, place)));
    }
    if !breakdown.stack.is_empty() {
        let shown: Vec<&str> = breakdown.stack.iter().take(FRAMES).map(String::as_str).collect();
        let more = if breakdown.stack.len() > FRAMES { " <- ..." } else { "" };
        notes.push(Evidence::general(format!("its stack: {}{more}", shown.join(" <- "))));
    }
    if breakdown.cpu == Cpu::UNKNOWN {
        notes.push(Evidence::general(
            "which CPU it was is not known: the analysis lacks its first line, `## CPU N hit stop tracing`",
        ));
    }
    notes.push(Evidence::general(format!(
        "from rtla's own analysis, line {} of the file, which has lengths and no instants",
        breakdown.line
    )));
    notes
}
