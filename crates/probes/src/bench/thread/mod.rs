//! What it costs to create threads and processes, to wake another thread, and to take a lock.

mod creation;
mod gate;
mod locks;
mod only_cpu;
mod partner;
mod verdict;
mod wake;

use super::report::BenchReport;
use super::rounds::{self, Outcome};
use super::{BenchKind, case::Case};
use only_cpu::only_one;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use whylate_base::{CpuSet, Ns};
use whylate_sys::{Clock, current_cpu, now};

/// Measures for about `time`, or until `stop`. The other thread of a pair runs on the measuring thread's CPU, and then on
/// another one of `cpus`.
pub(super) fn measure(cpus: &CpuSet, time: Ns, stop: &AtomicBool) -> BenchReport {
    let start = now(Clock::Monotonic);
    let own = current_cpu();
    let other = cpus.iter().find(|cpu| *cpu != own);
    let mut outcome = Outcome::default();
    let mut cases: Vec<Case<'_>> = creation::cases();
    wake::add(&mut cases, &mut outcome, wake::ONE_CPU, own);
    match other {
        Some(other) => wake::add(&mut cases, &mut outcome, wake::TWO_CPUS, other),
        None => outcome.skip(wake::TWO_CPUS, &only_one(own)),
    }
    locks::add(&mut cases, &mut outcome, other.ok_or(own));
    outcome.add(rounds::run(cases, time, stop));
    BenchReport {
        kind: BenchKind::Thread,
        elapsed: now(Clock::Monotonic) - start,
        interrupted: stop.load(Acquire),
        verdict: verdict::verdict(&outcome.rows),
        published: Vec::new(),
        rows: outcome.rows,
        skipped: outcome.skipped,
        notes: vec![
            "A round trip wakes the other thread and waits until it has woken this one: two wake-ups and two context switches."
                .to_owned(),
        ],
    }
}
