//! The timer probe on this machine: structure and honesty, never microseconds.

use std::time::{Duration, Instant};
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_probes::{CpuUnusable, Lacking, Probe, ProbeError};

fn first_cpu() -> CpuSet {
    whylate_sys::getaffinity(Tid(0)).expect("affinity").iter().take(1).collect()
}

/// Waits for a condition. The bound is for a test that hangs, not for a busy machine.
fn await_condition(mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < until, "not reached in 120 s");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// As where they leave no CPU to the thread that would stop them.
#[test]
fn threads_end_by_themselves_when_their_time_is_over() {
    let mut running = Probe { cpus: Some(first_cpu()), ..Probe::default() }.start().expect("start");
    running.end_after(Ns::from_ms(20));
    await_condition(|| {
        running.spikes();
        running.is_over()
    });
    let result = running.stop().expect("stop");
    assert!(result.cpus.iter().all(|cpu| cpu.histogram.count() > 0 && cpu.stuck_since.is_none()));
}

#[test]
fn every_cpu_is_measured_and_the_numbers_fit_together() {
    let probe = Probe { loops: Some(200), ..Probe::default() };
    let mut running = probe.start().expect("start");
    let threads: Vec<_> = running.threads().collect();
    let mut spikes = Vec::new();
    await_condition(|| {
        spikes.extend(running.spikes());
        running.snapshot().iter().all(|cpu| cpu.histogram.count() >= 100)
    });
    let live = running.snapshot();
    await_condition(|| {
        spikes.extend(running.spikes());
        running.is_over()
    });
    let result = running.stop().expect("stop");
    spikes.extend(&result.spikes);

    let allowed = whylate_sys::getaffinity(Tid(0)).expect("affinity");
    assert_eq!(result.cpus.iter().map(|cpu| cpu.cpu).collect::<CpuSet>(), allowed);
    for ((cpu, thread), live) in result.cpus.iter().zip(&threads).zip(&live) {
        assert_eq!((cpu.cpu, cpu.tid, cpu.sched), (thread.cpu, thread.tid, thread.sched));
        assert_eq!(cpu.stuck_since, None);
        let all = &cpu.histogram;
        assert_eq!(all.count(), 200);
        assert!(live.histogram.count() <= all.count());
        let [min, p50, p99, p9999, max] =
            [all.min(), all.percentile(0.5), all.percentile(0.99), all.percentile(0.9999), all.max()]
                .map(|value| value.expect("samples"));
        assert!(Ns::ZERO <= min && min <= p50 && p50 <= p99 && p99 <= p9999 && p9999 <= max);
        // Every period since the first was either measured or missed.
        assert!((all.count() + cpu.missed) as i64 <= result.elapsed.0 / probe.interval.0 + 1);
        let worst = spikes.iter().filter(|spike| spike.cpu == cpu.cpu).map(|spike| spike.latency()).max();
        assert_eq!(worst, all.max(), "the worst sample is among the spikes");
        let fifo = cpu.sched.policy == Policy::Fifo && cpu.sched.priority == probe.priority;
        let is_reported = result.degraded.iter().any(|degraded| degraded.lacking == Lacking::Priority);
        assert_ne!(fifo, is_reported, "FIFO 80, or the report says why not");
    }
    assert_eq!(result.all().count(), result.cpus.iter().map(|cpu| cpu.histogram.count()).sum::<u64>());
    for degraded in &result.degraded {
        assert!(!degraded.remedy.is_empty() && !degraded.reason.is_empty());
    }
}

#[test]
fn a_threshold_reports_each_sample_over_it() {
    let probe = Probe {
        cpus: Some(first_cpu()),
        threshold: Some(Ns(1)),
        worst: 0,
        loops: Some(100),
        ..Probe::default()
    };
    let running = probe.start().expect("start");
    await_condition(|| running.is_over());
    let result = running.stop().expect("stop");
    let cpu = &result.cpus[0];
    let over = cpu.histogram.count()
        - cpu.histogram.buckets().iter().filter(|b| b.upto < Ns(1)).map(|b| b.count).sum::<u64>();
    assert_eq!(result.spikes.len() as u64 + cpu.unreported_spikes, over);
    for pair in result.spikes.windows(2) {
        let step = (pair[1].due - pair[0].due).0;
        assert!(step > 0 && step % probe.interval.0 == 0, "absolute periods, never drifting");
    }
}

#[test]
fn a_dropped_probe_stops_its_threads() {
    let running = Probe { cpus: Some(first_cpu()), ..Probe::default() }.start().expect("start");
    let tid = running.threads().next().expect("a thread").tid;
    drop(running);
    // The kernel may still be finishing its exit.
    await_condition(|| whylate_sys::getattr(tid).is_err_and(|error| error.is_no_such_thread()));
}

#[test]
fn wrong_values_are_refused_by_name() {
    let refused = |probe: Probe| probe.start().err().expect("refused");
    let default = Probe::default;
    assert_eq!(refused(Probe { interval: Ns::ZERO, ..default() }), ProbeError::Interval(Ns::ZERO));
    assert_eq!(
        refused(Probe { interval: Ns::from_secs(11), ..default() }),
        ProbeError::Interval(Ns::from_secs(11))
    );
    assert_eq!(refused(Probe { priority: 0, ..default() }), ProbeError::Priority(0));
    assert_eq!(refused(Probe { priority: 100, ..default() }), ProbeError::Priority(100));
    assert_eq!(refused(Probe { threshold: Some(Ns(-1)), ..default() }), ProbeError::Threshold(Ns(-1)));
    assert_eq!(refused(Probe { worst: 1000, ..default() }), ProbeError::Worst(1000));
    assert_eq!(refused(Probe { cpus: Some(CpuSet::new()), ..default() }), ProbeError::NoCpus);
    let absent = refused(Probe { cpus: Some("0,8191".parse().expect("list")), ..default() });
    assert!(
        matches!(&absent, ProbeError::Cpu { cpu: Cpu(8191), why: CpuUnusable::Absent { .. } }),
        "{absent}"
    );
}
