//! Each kind of probe on this machine: structure and honesty, never microseconds.

use std::time::{Duration, Instant};
use whylate_base::{Cpu, CpuSet, Ns, Policy, Tid};
use whylate_probes::{
    Counts, CpuResult, CpuUnusable, Ipc, Lacking, Probe, ProbeError, ProbeKind, ProbeResult, Running, Timer,
    Waker,
};
use whylate_testing::{Need, skip};

fn allowed() -> CpuSet {
    whylate_sys::getaffinity(Tid(0)).expect("affinity")
}

fn on_one(kind: ProbeKind) -> Probe {
    Probe { cpus: Some(allowed().iter().take(1).collect()), ..Probe::new(kind) }
}

/// Measures until each thread has taken this many samples, however long a busy machine needs for them.
fn measured(probe: &Probe, samples: u64) -> ProbeResult {
    let probe = Probe { loops: Some(samples), ..probe.clone() };
    completed(probe.start().unwrap_or_else(|error| panic!("{}: {error}", probe.kind)))
}

fn completed(mut running: Running) -> ProbeResult {
    let mut spikes = Vec::new();
    await_condition(|| {
        spikes.extend(running.spikes());
        running.is_over()
    });
    let mut result = running.stop().expect("stop");
    spikes.append(&mut result.spikes);
    ProbeResult { spikes, ..result }
}

/// Waits for a condition. The bound is for a test that hangs, not for a busy machine.
fn await_condition(mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < until, "not reached in 120 s");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn samples(result: &ProbeResult) -> u64 {
    result.cpus.iter().map(|cpu| cpu.histogram.count()).sum()
}

#[test]
fn every_timer_keeps_its_rhythm() {
    for timer in Timer::ALL {
        let probe = Probe { threshold: Some(Ns(1)), worst: 0, ..on_one(ProbeKind::Timer(timer)) };
        let result = measured(&probe, 100);
        let cpu = &result.cpus[0];
        assert_eq!(samples(&result), 100, "{timer:?}");
        assert!(
            (samples(&result) + cpu.missed) as i64 <= result.elapsed.0 / probe.interval.0 + 1,
            "{timer:?}"
        );
        for pair in result.spikes.windows(2) {
            let step = (pair[1].due - pair[0].due).0;
            assert!(step > 0 && step % probe.interval.0 == 0, "{timer:?}: absolute periods, never drifting");
        }
        assert!(cpu.bound && cpu.counts == Counts::None);
    }
}

#[test]
fn every_way_to_wake_wakes_from_the_same_and_from_another_cpu() {
    for by in Ipc::ALL {
        for waker in [Waker::SameCpu, Waker::On(allowed().iter().last().expect("a CPU"))] {
            let own = on_one(ProbeKind::Ipc { by, waker });
            let probe = Probe { threshold: Some(Ns(1)), worst: 0, loops: Some(60), ..own };
            let running = match probe.start() {
                Ok(running) => running,
                Err(ProbeError::Sys(error)) if by == Ipc::Mq => {
                    skip(Need::Machine, format_args!("in part: {error}"));
                    continue;
                }
                Err(error) => panic!("{by:?}: {error}"),
            };
            let result = completed(running);
            assert_eq!(samples(&result), 60, "{by:?} {waker:?}");
            let cpu = &result.cpus[0];
            assert_eq!(cpu.stuck_since, None, "{by:?} {waker:?}");
            assert!((samples(&result) + cpu.missed) as i64 <= result.elapsed.0 / probe.interval.0 + 2);
            // Each was sent after the one before was received.
            for pair in result.spikes.windows(2) {
                assert!(pair[0].due < pair[0].woken && pair[0].woken <= pair[1].due, "{by:?}: {pair:?}");
            }
        }
    }
}

#[test]
fn a_spinning_thread_sees_its_gaps() {
    let gap = Ns(500);
    let probe = Probe { worst: 3, loops: Some(100), ..on_one(ProbeKind::Busy { gap, duty: Some(50) }) };
    let result = match probe.start() {
        Ok(running) => completed(running),
        Err(ProbeError::Gap { reading, enough, .. }) => {
            assert!(reading < enough && enough > gap);
            return skip(Need::Machine, "the clock is slow to read");
        }
        Err(error) => panic!("{error}"),
    };
    let cpu = &result.cpus[0];
    // The tick alone makes some, even on a CPU that has nothing else to do.
    assert_eq!(samples(&result), 100);
    assert!(cpu.histogram.min().is_some_and(|min| min >= gap));
    assert_eq!(cpu.sched.policy, Policy::Other);
    let Counts::Busy { watched } = cpu.counts else { panic!("{:?}", cpu.counts) };
    assert!(Ns::ZERO < watched && watched <= result.elapsed);
    assert!(cpu.histogram.sum() <= watched.0 as u64, "no more was lost than there was");
    for pair in result.spikes.windows(2) {
        assert!(pair[0].woken <= pair[1].due, "gaps do not overlap: {pair:?}");
    }
}

#[test]
fn the_whole_machine_is_not_taken() {
    let all = Probe {
        cpus: Some(allowed()),
        ..Probe::new(ProbeKind::Busy { gap: Ns::from_us(1), duty: Some(100) })
    };
    match all.prepare().map(drop) {
        Err(ProbeError::WholeMachine(cpus)) => assert_eq!(cpus, allowed()),
        // Where this process may not use all CPUs, some are left.
        other => assert!(other.is_ok(), "{other:?}"),
    }
}

#[test]
fn deadline_threads_keep_their_periods_or_say_why_not() {
    let kind = ProbeKind::Deadline { runtime: Ns::from_us(200), deadline: Some(Ns::from_ms(2)) };
    let probe = Probe { interval: Ns::from_ms(4), ..Probe::new(kind) };
    let result = measured(&probe, 25);
    let [cpu] = &result.cpus[..] else { panic!("one thread, unless more are wanted") };
    assert!(samples(&result) == 25 && !cpu.bound);
    assert!(result.spikes.iter().all(|spike| allowed().contains(spike.cpu)));
    let Counts::Deadline { overruns } = cpu.counts else { panic!("{:?}", cpu.counts) };
    assert!(overruns <= samples(&result));
    let is_reported = result.degraded.iter().any(|degraded| degraded.lacking == Lacking::Priority);
    assert_ne!(cpu.sched.policy == Policy::Deadline, is_reported, "{:?}", cpu.sched);
}

#[test]
fn a_window_that_was_disturbed_is_no_sample() {
    let probe = on_one(ProbeKind::Hwlat { width: Ns::from_us(200) });
    let mut running = probe.start().expect("start");
    // On a busy machine every window may be disturbed: then no number of samples would end it.
    let windows = |cpu: &CpuResult| match cpu.counts {
        Counts::Hwlat { disturbed, .. } => cpu.histogram.count() + disturbed,
        _ => 0,
    };
    await_condition(|| {
        running.spikes();
        running.snapshot().iter().all(|cpu| windows(cpu) >= 30)
    });
    let result = running.stop().expect("stop");
    let cpu = &result.cpus[0];
    let Counts::Hwlat { watched, disturbed, .. } = cpu.counts else { panic!("{:?}", cpu.counts) };
    assert!(samples(&result) + disturbed > 0);
    assert_eq!(watched.0, 200_000 * samples(&result) as i64);
    assert!((samples(&result) + disturbed + cpu.missed) as i64 <= result.elapsed.0 / probe.interval.0 + 2);
}

#[test]
fn a_threads_loops_end_its_part() {
    for kind in [ProbeKind::Timer(Timer::Nanosleep), ProbeKind::Ipc { by: Ipc::Futex, waker: Waker::SameCpu }]
    {
        let result = measured(&on_one(kind), 7);
        assert_eq!((samples(&result), result.cpus[0].stuck_since), (7, None), "{kind}");
    }
}

#[test]
fn the_first_sample_over_the_threshold_ends_it_where_that_is_wanted() {
    let probe =
        Probe { threshold: Some(Ns(1)), stop_at_threshold: true, worst: 0, ..on_one(Probe::default().kind) };
    let mut running = probe.start().expect("start");
    await_condition(|| running.is_over());
    assert_eq!(running.spikes().len(), 1);
    assert_eq!(running.stop().expect("stop").cpus[0].unreported_spikes, 0);
}

#[test]
fn further_cpus_have_longer_intervals_within_bounds() {
    let probe = Probe { distance: Ns::from_us(500), threshold: Some(Ns(1)), worst: 0, ..Probe::default() };
    let result = measured(&probe, 100);
    for (nth, cpu) in (0..).zip(&result.cpus) {
        let interval = probe.interval.0 + nth * probe.distance.0;
        let own: Vec<_> = result.spikes.iter().filter(|spike| spike.cpu == cpu.cpu).collect();
        assert!(own.windows(2).all(|pair| (pair[1].due - pair[0].due).0 % interval == 0), "CPU {}", cpu.cpu);
    }
    let backwards = Probe { distance: Ns(-1), ..on_one(probe.kind) };
    assert!(backwards.prepare().is_ok(), "of one CPU it does not matter");
    if allowed().len() > 1 {
        let far = Probe { distance: Ns::from_secs(10), ..probe };
        assert!(matches!(far.prepare().map(drop), Err(ProbeError::Interval(_))));
    }
}

#[test]
fn a_wakers_cpu_is_checked_as_any_other() {
    let kind = ProbeKind::Ipc { by: Ipc::Pipe, waker: Waker::On(Cpu(8191)) };
    let refused = on_one(kind).prepare().map(drop);
    assert!(
        matches!(refused, Err(ProbeError::Cpu { cpu: Cpu(8191), why: CpuUnusable::Absent { .. } })),
        "{refused:?}"
    );
}

#[test]
fn what_is_prepared_and_dropped_ends() {
    for by in [Ipc::Pipe, Ipc::PiMutex, Ipc::Signal] {
        let running = on_one(ProbeKind::Ipc { by, waker: Waker::SameCpu }).prepare().expect("prepare");
        let tids: Vec<Tid> = running.threads().map(|thread| thread.tid).collect();
        drop(running);
        let ended = |&tid: &Tid| whylate_sys::getattr(tid).is_err_and(|error| error.is_no_such_thread());
        await_condition(|| tids.iter().all(ended));
    }
}
