//! Measurements on this machine: structure and honesty, never microseconds.

use std::sync::atomic::{AtomicBool, Ordering};
use whylate_base::{CpuSet, Ns, Tid};
use whylate_investigate::measure::{
    MeasureError, MeasureOptions, MeasureReport, NotExplained, Progress, SpikeKind, TraceState, measure,
};
use whylate_ledger::Cause;
use whylate_probes::{Lacking, Probe, ProbeError};
use whylate_testing::{Need, skip};

fn run(options: &MeasureOptions) -> MeasureReport {
    patiently(options, &AtomicBool::new(false), &mut |_| {})
}

/// Measures as soon as this machine has time to start the threads: one that is busy, or whose host takes the CPUs, may
/// have none for seconds, which is an error of a measurement and none of these tests.
fn patiently(
    options: &MeasureOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> MeasureReport {
    loop {
        match measure(options, stop, progress) {
            Err(MeasureError::Probe(ProbeError::NoTime { .. })) => {}
            result => return result.expect("measure"),
        }
    }
}

/// Samples of each CPU. Not a duration: a busy machine may take none within any.
const SAMPLES: u64 = 200;

fn briefly() -> MeasureOptions {
    with(Probe::default())
}

fn with(probe: Probe) -> MeasureOptions {
    let probe = Probe { loops: Some(SAMPLES), ..probe };
    MeasureOptions { probe, buffer_kib: Some(8192), ..MeasureOptions::default() }
}

#[test]
fn the_worst_wake_ups_are_explained_or_the_reason_is_reported() {
    let report = run(&briefly());
    assert!(!report.cpus.is_empty());
    assert!(report.cpus.iter().all(|cpu| cpu.histogram.count() == SAMPLES));
    let worst = report.cpus.iter().filter_map(|cpu| cpu.histogram.max()).max();
    assert_eq!(report.spikes.first().map(|spike| spike.latency()), worst);
    assert!(report.spikes.len() >= 5, "five worst");
    for cpu in &report.cpus {
        let listed = report
            .spikes
            .iter()
            .filter(|spike| spike.measured.cpu == cpu.cpu)
            .map(|spike| spike.latency())
            .max();
        assert_eq!(listed, cpu.histogram.max(), "the worst of CPU {}", cpu.cpu);
    }
    assert!(report.spikes.is_sorted_by(|a, b| a.latency() >= b.latency()));
    assert_eq!(report.over_threshold, None);
    match &report.trace {
        TraceState::Recorded { events, .. } => {
            assert!(*events > 0);
            // A machine so busy that the kernel overwrites events unread may lose every window.
            let explained = report.spikes.iter().any(|spike| spike.answer.is_ok());
            let overwritten = |answer| matches!(answer, &Err(NotExplained::Overwritten { .. }));
            let lost = report.spikes.iter().any(|spike| overwritten(&spike.answer))
                || report.findings.iter().any(|finding| finding.code == Cause::TraceLoss.code());
            assert!(explained || lost, "{:?}", report.spikes);
            if !explained {
                skip(Need::Machine, "in part: the kernel overwrote the events of all spikes");
            }
        }
        state => skip(Need::Tracefs, format_args!("in part: {state:?}")),
    }
    for spike in &report.spikes {
        let Ok(activation) = &spike.answer else { continue };
        assert_eq!(activation.tid, spike.measured.tid);
        assert_eq!(activation.cpu, spike.measured.cpu);
        let running = activation.running.expect("it ran");
        assert!(
            spike.measured.due <= running && running < spike.measured.woken + Ns::from_ms(1),
            "the same wake-up"
        );
        let charged: Ns = activation.ledger.iter().map(|segment| segment.length()).sum();
        assert_eq!(charged, activation.response(), "charged is measured, to the nanosecond");
    }
}

#[test]
fn every_wake_up_over_the_threshold_is_counted() {
    let probe = Probe { threshold: Some(Ns(1)), worst: 0, ..Probe::default() };
    let report = run(&with(probe));
    let late = |cpu: &whylate_probes::CpuResult| cpu.histogram.count() - cpu.unreported_spikes;
    let count: u64 = report.cpus.iter().map(late).sum();
    let on_time: u64 = report
        .cpus
        .iter()
        .flat_map(|cpu| cpu.histogram.buckets())
        .filter(|b| b.upto < Ns(1))
        .map(|b| b.count)
        .sum();
    assert_eq!(report.over_threshold, Some(count - on_time));
    assert_eq!(report.not_listed + report.spikes.len() as u64, count - on_time);
    assert!(report.spikes.iter().all(|spike| spike.kind == SpikeKind::OverThreshold));
}

#[test]
fn without_a_trace_nothing_is_explained_and_all_is_measured() {
    let report = run(&MeasureOptions { trace: false, ..briefly() });
    assert_eq!(report.trace, TraceState::Off);
    assert!(!report.spikes.is_empty());
    assert!(report.spikes.iter().all(|spike| matches!(spike.answer, Err(NotExplained::NoTrace))));
    assert!(report.cpus.iter().all(|cpu| cpu.histogram.count() > 0));
}

#[test]
fn the_stop_flag_ends_it_with_a_valid_report() {
    let stop = AtomicBool::new(false);
    let options = MeasureOptions { trace: false, ..MeasureOptions::default() };
    let report = patiently(&options, &stop, &mut |progress| {
        let measured = progress.cpus.iter().all(|cpu| cpu.histogram.count() > 0);
        stop.store(measured, Ordering::Relaxed);
    });
    assert!(report.is_complete && report.cpus.iter().all(|cpu| cpu.histogram.count() > 0));
}

#[test]
fn the_measurement_leaves_the_thread_where_it_was() {
    std::thread::spawn(|| {
        let before = whylate_sys::getaffinity(Tid(0)).expect("affinity");
        let cpus: CpuSet = before.iter().take(1).collect();
        let probe = Probe { cpus: Some(cpus.clone()), ..Probe::default() };
        let report = run(&MeasureOptions { trace: false, ..with(probe) });
        assert_eq!(report.cpus.iter().map(|cpu| cpu.cpu).collect::<CpuSet>(), cpus);
        assert_eq!(whylate_sys::getaffinity(Tid(0)).expect("affinity"), before);
    })
    .join()
    .expect("thread");
}

#[test]
fn what_was_refused_is_in_the_report_and_wrong_values_are_errors() {
    let report = run(&MeasureOptions { trace: false, ..briefly() });
    let fifo = report.cpus.iter().all(|cpu| cpu.sched.priority == report.probe.priority);
    assert_ne!(fifo, report.degraded.iter().any(|degraded| degraded.lacking == Lacking::Priority));
    assert!(!report.observer.is_empty());

    let probe = Probe { interval: Ns::ZERO, ..Probe::default() };
    let error = measure(&with(probe), &AtomicBool::new(false), &mut |_| {});
    assert!(matches!(error, Err(MeasureError::Probe(ProbeError::Interval(Ns::ZERO)))));
}
