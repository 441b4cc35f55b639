//! What readings of a clock show: its resolution, its steps backwards, and where it is read.

use crate::bench::{BenchError, ClockFacts};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use whylate_base::{CpuSet, Ns, Tid};
use whylate_sys::{Clock, PosixClock, now, setaffinity};

/// The coarsest clock has steps of a tick, 10 ms at 100 Hz: some of them are waited for.
const SEARCH: Ns = Ns::from_ms(45);
/// Threads that compare their readings at most: more only wait for each other.
const THREADS: usize = 8;

/// The facts of a clock, with the clock source in use. Takes up to 100 ms.
pub(super) fn facts(clock: PosixClock, cpus: &CpuSet, stop: &AtomicBool) -> Result<ClockFacts, BenchError> {
    let compared = match clock {
        // Each thread has its own.
        PosixClock::THREAD_CPUTIME => Compared::default(),
        _ => compare(clock, cpus, stop)?,
    };
    Ok(ClockFacts {
        resolution_claimed: clock.resolution().ok(),
        resolution_seen: smallest_step(clock, stop)?,
        readings: compared.readings,
        steps_backwards: compared.backwards,
        worst_step_backwards: compared.worst,
        // Refused in some containers: then it cannot be told.
        makes_system_call: clock.makes_system_call().ok(),
        system_share: None,
    })
}

/// The smallest step of many; of a clock with rare steps of the few that there are.
fn smallest_step(clock: PosixClock, stop: &AtomicBool) -> Result<Option<Ns>, BenchError> {
    const STEPS: u32 = 20_000;
    let (mut smallest, mut steps) = (None, 0);
    let until = now(Clock::Monotonic) + SEARCH;
    let mut last = clock.read()?;
    while steps < STEPS && now(Clock::Monotonic) < until && !stop.load(Acquire) {
        let next = clock.read()?;
        if next > last {
            steps += 1;
            // The first step may be one that was under way.
            smallest = Some(smallest.map_or(next - last, |before: Ns| before.min(next - last)));
        }
        last = next;
    }
    Ok(smallest)
}

/// Readings of all CPUs, each compared with the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) readings: u64,
    pub(super) backwards: u64,
    pub(super) worst: Ns,
}

/// What all threads have read: under a lock, so that each reading is later than the one before.
struct Shared {
    last: Ns,
    compared: Compared,
}

/// Threads on several CPUs read the clock in turn. One that is earlier than the last reading of any of them has stepped
/// backwards, as the kernel's own test of the TSC has it (`check_tsc_warp`, arch/x86/kernel/tsc_sync.c).
fn compare(clock: PosixClock, cpus: &CpuSet, stop: &AtomicBool) -> Result<Compared, BenchError> {
    let shared = Mutex::new(Shared { last: clock.read()?, compared: Compared::default() });
    let until = now(Clock::Monotonic) + Ns::from_ms(30);
    std::thread::scope(|scope| {
        for cpu in cpus.iter().take(THREADS) {
            let shared = &shared;
            let read = move || {
                // A CPU that went offline meanwhile: the thread compares on another one.
                let _ = setaffinity(Tid(0), &CpuSet::from_iter([cpu]));
                while now(Clock::Monotonic) < until && !stop.load(Acquire) {
                    compare_some(clock, shared);
                }
            };
            let thread = std::thread::Builder::new().name(format!("clock/{cpu}"));
            thread.spawn_scoped(scope, read).map_err(|error| BenchError::io("create a thread", error))?;
        }
        Ok::<(), BenchError>(())
    })?;
    Ok(shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).compared)
}

fn compare_some(clock: PosixClock, shared: &Mutex<Shared>) {
    for _ in 0..64 {
        let mut shared = shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Ok(reading) = clock.read() else { return };
        let step = shared.last - reading;
        shared.compared.readings += 1;
        if step > Ns::ZERO {
            shared.compared.backwards += 1;
            shared.compared.worst = shared.compared.worst.max(step);
        }
        shared.last = reading;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_readings_of_all_cpus_are_compared() {
        let cpus = whylate_sys::getaffinity(Tid(0)).expect("own affinity");
        let facts = facts(PosixClock::MONOTONIC, &cpus, &AtomicBool::new(false)).expect("a clock");
        assert!(facts.readings > 0);
        assert!(facts.resolution_claimed > Some(Ns::ZERO) && facts.resolution_seen > Some(Ns::ZERO));
    }

    #[test]
    fn a_coarse_clock_has_large_steps() {
        let facts =
            facts(PosixClock::MONOTONIC_COARSE, &CpuSet::new(), &AtomicBool::new(false)).expect("a clock");
        assert!(facts.resolution_claimed >= Some(Ns::from_us(900)), "{facts:?}");
    }
}
