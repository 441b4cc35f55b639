//! The record that is kept of an activation: what made it due, and what the CPUs involved ran.

use crate::engine::EndedActivation;
use crate::model::{Activation, CpuTrack, OnCpu, Segment, Slice, Trigger};
use crate::timeline::Timeline;
use crate::timeline::activations::{Begin, Open, WakeCause};
use crate::timeline::running::Running;
use crate::timeline::thread::Thread;
use std::collections::BTreeSet;
use whylate_base::{Cpu, Ns};
use whylate_events::Name;

/// A track of more slices is drawn coarser: no picture shows them.
const MAX_SLICES: usize = 4_000;

/// An activation as it was when it ended, without its verdict.
pub(super) fn record(
    timeline: &Timeline,
    thread: &Thread,
    ended: &EndedActivation,
    ledger: Vec<Segment>,
) -> Activation {
    let activation = without_tracks(timeline, thread, ended, ledger);
    let Activation { cpu, due, end, .. } = activation;
    Activation { tracks: tracks(timeline, &activation.ledger, cpu, due, end), ..activation }
}

/// The same without what the CPUs did: that is drawn of few activations, and costs more than the rest.
pub(super) fn without_tracks(
    timeline: &Timeline,
    thread: &Thread,
    ended: &EndedActivation,
    ledger: Vec<Segment>,
) -> Activation {
    let EndedActivation { tid, ref open, done, end, .. } = *ended;
    Activation {
        cpu: open.ran_on.or(open.cpu).unwrap_or_default(),
        trigger: trigger(timeline, open),
        woken: open.woken,
        running: open.running,
        done,
        ledger,
        starts_program: ended.starts_program,
        ends_program: ended.ends_program(thread),
        ..Activation::of(tid, thread.comm_at(end), thread.own_priority_at(open.due), open.due, end)
    }
}

fn trigger(timeline: &Timeline, open: &Open) -> Trigger {
    match open.begin {
        Begin::TraceStart => Trigger::TraceStart,
        Begin::Marked => Trigger::Marker,
        Begin::Woken(WakeCause::Timer { .. }) => Trigger::Timer,
        Begin::Woken(WakeCause::Thread(tid)) => {
            Trigger::Thread { tid, comm: timeline.comm_at(tid, open.waking) }
        }
        Begin::Woken(WakeCause::Upon(tid)) => Trigger::Upon { tid, comm: timeline.comm_at(tid, open.waking) },
        Begin::Woken(WakeCause::Irq(id)) => match timeline.irqs.get(id) {
            (Some(irq), name) => Trigger::Irq { irq, name },
            // An inter-processor interrupt carries the wake-up of another CPU; which was not seen.
            (None, _) => Trigger::Wakeup,
        },
        Begin::Woken(WakeCause::Softirq(vec)) => Trigger::Softirq { vec },
        Begin::Woken(WakeCause::Unseen) => Trigger::Wakeup,
    }
}

/// What the CPUs that the ledger names did.
fn tracks(timeline: &Timeline, ledger: &[Segment], own: Cpu, from: Ns, to: Ns) -> Vec<CpuTrack> {
    let cpus: BTreeSet<Cpu> = ledger.iter().map(|segment| segment.cpu).chain([own]).collect();
    let track = |cpu: Cpu| {
        timeline.cpus.get(cpu).map(|history| {
            let slices = history.between(from, to).map(|(start, end, slice)| Slice {
                start,
                end,
                on_cpu: on_cpu(timeline, slice.running, start),
            });
            CpuTrack { cpu, slices: coarsen(slices.collect(), from, to) }
        })
    };
    cpus.into_iter().filter_map(track).collect()
}

/// What had a CPU at `at`.
pub(crate) fn on_cpu(timeline: &Timeline, running: Running, at: Ns) -> OnCpu {
    match running {
        Running::Unknown => OnCpu::Unknown,
        Running::Idle => OnCpu::Idle,
        Running::Task(tid, priority) => OnCpu::Task { tid, comm: timeline.comm_at(tid, at), priority },
        Running::Irq(id) => {
            let (irq, name) = timeline.irqs.get(id);
            OnCpu::Irq { irq, name }
        }
        Running::Softirq(vec) => OnCpu::Softirq { vec },
        Running::Nmi => OnCpu::Irq { irq: None, name: Name::from("nmi") },
    }
}

/// Merges neighbours of the same content, and hides what is too short to be seen where there is too much.
fn coarsen(slices: Vec<Slice>, from: Ns, to: Ns) -> Vec<Slice> {
    let shortest = if slices.len() > MAX_SLICES { Ns((to - from).0 / MAX_SLICES as i64) } else { Ns::ZERO };
    let mut coarse: Vec<Slice> = Vec::new();
    for slice in slices {
        match coarse.last_mut() {
            Some(last) if last.on_cpu == slice.on_cpu || slice.end - slice.start < shortest => {
                last.end = slice.end
            }
            _ => coarse.push(slice),
        }
    }
    coarse
}
