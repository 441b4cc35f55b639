//! Threads that several faults start: the usual victim, bursts and hogs.

use crate::periodic::{Log, Pace};
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::Result;
use whylate_base::{CpuSet, Ns};

/// The usual victim: with the requested policy, on its CPU.
pub(super) fn victim(setup: &Setup) -> ThreadSpec {
    let spec = ThreadSpec::new(Role::Victim, setup.victim_name("victim"), setup.victim_sched, setup.cpu);
    // Its behaviours move it; here it must only not be bound to one CPU.
    ThreadSpec { may_move: setup.victim_moves().then(|| CpuSet::from_iter([setup.cpu])), ..spec }
}

/// Starts `spec` as a victim with its usual work only.
pub(super) fn start_plain_victim(threads: &mut Threads, setup: &Setup, spec: ThreadSpec) -> Result<()> {
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    threads.start(spec, move || pace.run(|_| spin.work(job)))
}

/// Starts `spec` as a thread that works for `burst` at each of `pace`.
pub(super) fn start_burst(
    threads: &mut Threads,
    setup: &Setup,
    spec: ThreadSpec,
    pace: Pace,
    burst: Ns,
) -> Result<()> {
    let spin = setup.spin;
    threads.start(spec, move || pace.run(|_| spin.work(burst)))
}

/// Starts `spec` as a thread that never sleeps from `from` to the end of the run.
pub(super) fn start_hog(threads: &mut Threads, setup: &Setup, spec: ThreadSpec, from: Ns) -> Result<()> {
    let (spin, end) = (setup.spin, setup.end);
    threads.start(spec, move || {
        if whylate_sys::sleep_until(whylate_sys::Clock::Monotonic, from).is_ok() {
            spin.work_until(end);
        }
        Log::default()
    })
}
