//! A measuring thread makes no allocator call and suffers no page fault after its warm-up.

use std::time::{Duration, Instant};
use whylate_base::Ns;
use whylate_probes::{Lacking, TimerProbe};
use whylate_sys::{CountingAllocator, allocator_calls, gettid};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_measuring_thread_neither_allocates_nor_faults() {
    let own = allocator_calls(gettid());
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(allocator_calls(gettid()) - own, 2, "the counter counts");

    // A threshold of 1 ns makes every sample a spike, so that the ring is written as well.
    let probe = TimerProbe { threshold: Some(Ns(1)), ..TimerProbe::default() };
    let mut running = probe.start().expect("start");
    let until = Instant::now() + Duration::from_secs(20);
    while running.snapshot().iter().any(|cpu| cpu.histogram.count() == 0) {
        assert!(Instant::now() < until, "no sample in 20 s");
        std::thread::sleep(Duration::from_millis(5));
    }
    let calls = |threads: &mut dyn Iterator<Item = _>| threads.map(allocator_calls).collect::<Vec<_>>();
    let tids: Vec<_> = running.threads().map(|thread| thread.tid).collect();
    let before = calls(&mut tids.iter().copied());
    std::thread::sleep(Duration::from_millis(200));
    assert!(!running.spikes().is_empty());
    assert_eq!(calls(&mut tids.iter().copied()), before);

    let result = running.stop().expect("stop");
    let locked = result.degraded.iter().all(|degraded| degraded.lacking != Lacking::LockedMemory);
    for cpu in &result.cpus {
        assert_eq!(cpu.major_faults, Some(0));
        if locked {
            assert_eq!(cpu.minor_faults, Some(0), "CPU {}", cpu.cpu);
        }
    }
}
