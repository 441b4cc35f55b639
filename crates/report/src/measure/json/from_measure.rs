//! From a measurement's types to the wire's.

pub(crate) mod long_run;
mod phases;

use super::document::{
    Bucket, CpuResult, Degraded, Distribution, Document, Lacking, Maxima, NotExplained, Probe, Reason,
    SCHEMA, Setting, Spike, SpikeKind, Timerlat, Trace, TraceState,
};
use crate::explain::json::from_ledger::{activation, finding};
use whylate_investigate::measure::{
    ExplainedSpike, MeasureReport, NotExplained as Unexplained, SpikeKind as Kind, TraceState as State,
};
use whylate_probes::{Counts, Degraded as Lack, Lacking as Right};
use whylate_stats::Histogram;

impl From<&MeasureReport> for Document {
    fn from(report: &MeasureReport) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            probe: Probe {
                kind: report.probe.kind.to_string(),
                priority: report.probe.priority,
                interval_ns: report.probe.interval.0,
                threshold_ns: report.probe.threshold.map(|threshold| threshold.0),
            },
            elapsed_ns: report.elapsed.0,
            cpus: report.cpus.iter().map(cpu).collect(),
            over_threshold: report.over_threshold,
            spikes: report.spikes.iter().map(spike).collect(),
            not_listed: report.not_listed,
            findings: report.findings.iter().map(finding).collect(),
            trace: trace(&report.trace),
            degraded: report.degraded.iter().map(degraded).collect(),
            observer: report.observer.clone(),
            machine: report
                .machine
                .iter()
                .map(|(name, value)| Setting { name: name.clone(), value: value.clone() })
                .collect(),
            groups: report.groups.iter().map(long_run::group).collect(),
            loads: report.loads.iter().map(long_run::load).collect(),
            beyond: report.tail.as_ref().map(long_run::beyond),
            observed: report.observed.as_ref().map(long_run::observed),
            phases: report
                .phases
                .iter()
                .map(|phase| phases::phase(phase, distribution(&phase.histogram)))
                .collect(),
            phase_shift: report.phase_shift.as_ref().map(phases::phase_shift),
            deadline: report.deadline.as_ref().map(phases::deadline),
            complete: report.is_complete,
        }
    }
}

fn cpu(result: &whylate_probes::CpuResult) -> CpuResult {
    let histogram = &result.histogram;
    let (watched, disturbed, overruns) = match result.counts {
        Counts::None | Counts::Timerlat { .. } => (None, None, None),
        Counts::Busy { watched } => (Some(watched), None, None),
        Counts::Deadline { overruns } => (None, None, Some(overruns)),
        Counts::Hwlat { watched, disturbed } => (Some(watched), Some(disturbed), None),
    };
    CpuResult {
        cpu: result.cpu.0,
        tid: result.tid.0,
        policy: result.sched.policy.name().to_owned(),
        priority: result.sched.priority,
        samples: histogram.count(),
        latency_ns: distribution(histogram),
        histogram: histogram
            .buckets()
            .iter()
            .map(|bucket| Bucket { upto_ns: bucket.upto.0, count: bucket.count })
            .collect(),
        maxima: Some(Maxima {
            length_ns: result.maxima.length().0,
            largest_ns: result.maxima.blocks().iter().map(|largest| largest.map(|ns| ns.0)).collect(),
        }),
        overflow: histogram.overflow(),
        missed: result.missed,
        minor_faults: result.minor_faults,
        major_faults: result.major_faults,
        preemptions: result.preemptions,
        unreported_spikes: result.unreported_spikes,
        bound: result.bound,
        watched_ns: watched.map(|watched| watched.0),
        disturbed,
        smis: result.smis,
        overruns,
        timerlat: match &result.counts {
            Counts::Timerlat { irq, thread, lost } => Some(Timerlat {
                irq_ns: distribution(irq),
                thread_ns: thread.as_ref().and_then(distribution),
                lost: *lost,
            }),
            _ => None,
        },
        stuck_since_ns: result.stuck_since.map(|since| since.0),
    }
}

pub(crate) fn distribution(histogram: &Histogram) -> Option<Distribution> {
    Some(Distribution {
        min: histogram.min()?.0,
        mean: histogram.mean()?.0,
        p50: histogram.percentile(0.5)?.0,
        p99: histogram.tail(0.99).map(|latency| latency.0),
        p99_99: histogram.tail(0.9999).map(|latency| latency.0),
        max: histogram.max()?.0,
    })
}

fn spike(spike: &ExplainedSpike) -> Spike {
    Spike {
        cpu: spike.measured.cpu.0,
        tid: spike.measured.tid.0,
        kind: match spike.kind {
            Kind::OverThreshold => SpikeKind::OverThreshold,
            Kind::Worst => SpikeKind::Worst,
            Kind::Stuck => SpikeKind::Stuck,
        },
        due_ns: spike.measured.due.0,
        woken_ns: spike.measured.woken.0,
        latency_ns: spike.latency().0,
        activation: spike.answer.as_ref().ok().map(activation),
        not_explained: spike.answer.as_ref().err().map(not_explained),
        saved_as: spike.saved.as_ref().map(|saved| saved.name.clone()),
    }
}

fn not_explained(why: &Unexplained) -> NotExplained {
    let reason = match why {
        Unexplained::NoTrace => Reason::NoTrace,
        Unexplained::NotYet => Reason::NotYet,
        Unexplained::Overwritten { .. } => Reason::Overwritten,
        Unexplained::NotFound => Reason::NotFound,
        Unexplained::GivenUp => Reason::GivenUp,
        Unexplained::Unreadable(_) => Reason::Unreadable,
    };
    NotExplained { reason, why: why.to_string() }
}

fn trace(state: &State) -> Trace {
    let (state, events, notes) = match state {
        State::Recorded { events, notes } => (TraceState::Recorded, Some(*events), notes.clone()),
        State::Off => (TraceState::Off, None, Vec::new()),
        State::Unavailable(why) => (TraceState::Unavailable, None, vec![why.clone()]),
    };
    Trace { state, events, notes }
}

fn degraded(degraded: &Lack) -> Degraded {
    Degraded {
        lacking: match degraded.lacking {
            Right::Priority => Lacking::Priority,
            Right::LockedMemory => Lacking::LockedMemory,
            Right::Interrupts => Lacking::Interrupts,
        },
        effect: degraded.effect.clone(),
        reason: degraded.reason.clone(),
        remedy: degraded.remedy.clone(),
    }
}
