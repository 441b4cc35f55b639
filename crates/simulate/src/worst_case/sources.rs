//! What goes before a thread on its CPUs, from the whole recording: other threads and interrupts, with their curves.

use super::curve::DemandCurve;
use crate::model::{Amount, Interrupt, InterruptSource};
use crate::recording::{ChargedJobs, Recording, SeenThread, SourceKey, Watched};
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, CpuSet, Ns, Priority, Tid};
use whylate_ledger::{Cause, irq_name, softirq_name, thread_name};

/// Something that goes first.
#[derive(Clone, Debug)]
pub(super) struct InterferingSource {
    pub(super) key: SourceKey,
    pub(super) name: String,
    pub(super) cause: Cause,
    pub(super) curve: DemandCurve,
}

/// The thread whose worst case is composed.
pub(super) struct Victim<'a> {
    pub(super) tid: Tid,
    pub(super) priority: Priority,
    pub(super) cpus: &'a CpuSet,
}

#[derive(Default)]
struct GatheredSource {
    name: String,
    cause: Option<Cause>,
    ran: Vec<(Ns, Ns)>,
    arrivals: Vec<(Ns, Ns)>,
    jitter: Ns,
}

/// All sources, in a fixed order.
pub(super) fn sources(
    recording: &Recording,
    watched: &Watched,
    charged: &ChargedJobs,
    victim: &Victim<'_>,
) -> Vec<InterferingSource> {
    let mut gathered: BTreeMap<SourceKey, GatheredSource> = BTreeMap::new();
    for (at, thread) in recording.threads.iter().enumerate().filter(|(_, thread)| thread.tid != victim.tid) {
        let Some(seen) = watched.threads.get(at) else { continue };
        if let Some(source) = of_thread(seen, thread.comm, thread.tid, victim) {
            gathered.insert(SourceKey::Thread(thread.tid), source);
        }
    }
    let here = |cpu: Cpu| victim.cpus.contains(cpu);
    for interrupt in recording.model.interrupts.iter().filter(|interrupt| here(interrupt.cpu)) {
        let (key, name) = name_of(interrupt);
        let cause = if matches!(key, SourceKey::Softirq(_)) { Cause::Softirq } else { Cause::Irq };
        let source = gathered.entry(key).or_default();
        (source.name, source.cause) = (name, Some(cause));
        for (at, length) in times(interrupt) {
            source.ran.push((at + recording.start, at + recording.start + length));
            source.arrivals.push((at + recording.start, length));
        }
    }
    // What was charged is interference, whatever the rules are.
    for (key, seen) in &charged.sources {
        let source = gathered.entry(key.clone()).or_default();
        source.ran.extend(&seen.intervals);
        source.name.clone_from(&seen.name);
        source.cause = Some(seen.cause);
    }
    let all = gathered.into_iter().map(|(key, source)| InterferingSource {
        key,
        name: source.name,
        cause: source.cause.unwrap_or(Cause::Unexplained),
        curve: DemandCurve::new(source.ran, source.arrivals, source.jitter),
    });
    all.collect()
}

/// True where a thread of that priority goes before the victim, or takes turns with it.
pub(super) fn goes_first(priority: Priority, comm: &Comm, victim: &Victim<'_>) -> bool {
    comm.as_str().starts_with("migration/") || priority.is_realtime() && !victim.priority.outranks(priority)
}

fn of_thread(seen: &SeenThread, comm: Comm, tid: Tid, victim: &Victim<'_>) -> Option<GatheredSource> {
    let first = |priority: Priority| goes_first(priority, &comm, victim);
    let here = |cpu: Cpu| victim.cpus.contains(cpu);
    let slices = seen.slices.iter().filter(|slice| first(slice.priority) && here(slice.cpu));
    let ran: Vec<(Ns, Ns)> = slices.map(|slice| (slice.start, slice.end)).collect();
    if ran.is_empty() {
        return None;
    }
    let jobs = || seen.jobs.iter().filter(|job| first(job.priority));
    let priority =
        jobs().map(|job| job.priority).min_by_key(|priority| priority.0).unwrap_or(victim.priority);
    let cause = match () {
        () if comm.as_str().starts_with("migration/") => Cause::StopTask,
        () if priority.0 < 0 => Cause::DeadlineTask,
        () if priority == victim.priority => Cause::EqualPriorityTask,
        () => Cause::HigherPriorityTask,
    };
    Some(GatheredSource {
        name: thread_name(&comm, tid),
        cause: Some(cause),
        ran,
        arrivals: jobs().map(|job| (job.due, job.work)).collect(),
        jitter: jobs().map(|job| job.put_off).max().unwrap_or(Ns::ZERO),
    })
}

fn name_of(interrupt: &Interrupt) -> (SourceKey, String) {
    match (interrupt.kind, &interrupt.softirq) {
        (InterruptSource::Softirq, Some((vec, _))) => {
            (SourceKey::Softirq(*vec), format!("softirq {}", softirq_name(*vec)))
        }
        (InterruptSource::Line(Some(irq)), _) => {
            (SourceKey::Line(irq), irq_name(Some(irq), interrupt.name.as_str()))
        }
        _ => {
            let name = interrupt.name.as_str();
            (SourceKey::Vector(name.to_owned()), irq_name(None, name))
        }
    }
}

/// When an interrupt of a recording came, and how long each took.
fn times(interrupt: &Interrupt) -> Vec<(Ns, Ns)> {
    let lengths = match &interrupt.softirq {
        Some((_, lengths)) => lengths,
        None => &interrupt.handler,
    };
    let (Amount::Sequence(lengths), Amount::Sequence(gaps)) = (lengths, &interrupt.gap) else {
        return Vec::new();
    };
    let mut at = interrupt.offset;
    let mut all = Vec::with_capacity(lengths.len());
    for (length, gap) in lengths.iter().zip(gaps) {
        all.push((at, *length));
        at = Ns(at.0.saturating_add(gap.0));
    }
    all
}
