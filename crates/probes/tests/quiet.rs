//! A measuring thread of any kind makes no allocator call and suffers no page fault after its warm-up.

use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Ns, Tid};
use whylate_probes::{Ipc, Lacking, Probe, ProbeError, ProbeKind, Timer, Waker, Workload};
use whylate_sys::{CountingAllocator, allocator_calls, gettid};
use whylate_testing::{Need, skip};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Every kind; by a measuring thread on each CPU where that leaves the machine usable.
fn probes() -> Vec<Probe> {
    let last: CpuSet =
        whylate_sys::getaffinity(Tid(0)).expect("affinity").iter().last().into_iter().collect();
    let everywhere = |kind| Probe::new(kind);
    let on_one = |kind| Probe { cpus: Some(last.clone()), ..Probe::new(kind) };
    let timers = Timer::ALL.map(|timer| everywhere(ProbeKind::Timer(timer)));
    let ipcs = Ipc::ALL.map(|by| everywhere(ProbeKind::Ipc { by, waker: Waker::SameCpu }));
    let others = [
        on_one(ProbeKind::Busy { gap: Ns::from_us(1), duty: Some(50) }),
        everywhere(ProbeKind::Deadline { runtime: Ns::from_us(100), deadline: None }),
        on_one(ProbeKind::Hwlat { width: Ns::from_us(500) }),
        on_one(ProbeKind::Timerlat(Workload::User)),
    ];
    timers.into_iter().chain(ipcs).chain(others).collect()
}

#[test]
fn a_measuring_thread_neither_allocates_nor_faults() {
    let own = allocator_calls(gettid());
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(allocator_calls(gettid()) - own, 2, "the counter counts");
    probes().into_iter().for_each(quiet);
}

fn quiet(probe: Probe) {
    let kind = probe.kind;
    // A low threshold makes every sample a spike, so that the ring is written as well.
    let threshold = if matches!(kind, ProbeKind::Busy { .. }) { Ns::from_us(1) } else { Ns(1) };
    let mut running = match (Probe { threshold: Some(threshold), ..probe }).start() {
        Ok(running) => running,
        // Message queues may be used up, or not in this kernel.
        Err(ProbeError::Sys(error)) if error.call() == "mq_open" => {
            return skip(Need::Machine, format_args!("in part: {error}"));
        }
        // Few kernels have it, and it takes root.
        Err(error) if matches!(kind, ProbeKind::Timerlat(_)) => {
            return skip(Need::Machine, format_args!("in part: {error}"));
        }
        Err(error) => panic!("{kind}: {error}"),
    };
    let until = Instant::now() + Duration::from_secs(120);
    while running.snapshot().iter().any(|cpu| cpu.histogram.count() == 0) {
        running.spikes();
        assert!(Instant::now() < until, "{kind}: no sample in 120 s");
        std::thread::sleep(Duration::from_millis(5));
    }
    let calls = |threads: &mut dyn Iterator<Item = _>| threads.map(allocator_calls).collect::<Vec<_>>();
    let tids: Vec<_> = running.threads().map(|thread| thread.tid).collect();
    let before = calls(&mut tids.iter().copied());
    // Some more rounds; each is a spike.
    let mut spikes = running.spikes().len();
    while spikes < 20 {
        assert!(Instant::now() < until, "{kind}: {spikes} of 20 spikes");
        std::thread::sleep(Duration::from_millis(5));
        spikes += running.spikes().len();
    }
    assert_eq!(calls(&mut tids.iter().copied()), before, "{kind}");

    let result = running.stop().expect("stop");
    let locked = result.degraded.iter().all(|degraded| degraded.lacking != Lacking::LockedMemory);
    for cpu in &result.cpus {
        assert_eq!(cpu.stuck_since, None, "{kind}");
        assert_eq!(cpu.major_faults, Some(0), "{kind}");
        if locked {
            assert_eq!(cpu.minor_faults, Some(0), "{kind}, CPU {}", cpu.cpu);
        }
    }
}
