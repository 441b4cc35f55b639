//! Faults that take the CPU by the rules of the scheduler's classes.

use super::start::{start_burst, start_hog, start_plain_victim, victim};
use crate::periodic::Pace;
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result, ensure};
use rustix::thread::sched_yield;
use whylate_base::Ns;
use whylate_sys::{Clock, DeadlineParams, SchedParams, now};

/// A thread that outranks the victim and is switched in shortly before it.
pub(super) fn higher(setup: &Setup) -> Result<Threads> {
    let sched = SchedParams::fifo((setup.priority + 9).min(99));
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("rogue-high"), sched, setup.cpu);
    bursts(setup, victim(setup), spec, Ns::from_ms(3))
}

/// A peer: the first to run keeps the CPU until it sleeps.
pub(super) fn equal(setup: &Setup) -> Result<Threads> {
    let spec = ThreadSpec::new(
        Role::Culprit,
        setup.culprit_name("peer"),
        SchedParams::fifo(setup.priority),
        setup.cpu,
    );
    bursts(setup, victim(setup), spec, Ns::from_ms(4))
}

/// A SCHED_RR peer that works for longer than a time slice (100 ms by default).
pub(super) fn rr(setup: &Setup) -> Result<Threads> {
    let sched = SchedParams::rr(setup.priority);
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("rr-peer"), sched, setup.cpu);
    bursts(setup, ThreadSpec { sched, ..victim(setup) }, spec, Ns::from_ms(180))
}

fn bursts(setup: &Setup, victim: ThreadSpec, culprit: ThreadSpec, burst: Ns) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let pace = setup.pace_before_victim(Ns::from_us(500));
    start_burst(&mut threads, setup, culprit, pace, setup.burst(burst))?;
    start_plain_victim(&mut threads, setup, victim)?;
    Ok(threads)
}

/// A SCHED_DEADLINE thread may not be pinned (sched_setattr(2), EPERM), so there is one
/// for every CPU, all due at once: the earliest deadlines spread over all CPUs.
pub(super) fn deadline(setup: &Setup) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let pace = setup.pace_before_victim(Ns::from_us(500));
    let burst = setup.burst(Ns::from_ms(3));
    let params = DeadlineParams { runtime: burst + burst, deadline: setup.every, period: setup.every };
    let name = setup.culprit_name("edf");
    for number in 0..setup.cpus.len() {
        let spec = ThreadSpec {
            cpu: None,
            ..ThreadSpec::new(
                Role::Culprit,
                format!("{name}-{number}"),
                SchedParams::deadline(params),
                setup.cpu,
            )
        };
        start_burst(&mut threads, setup, spec, pace, burst)?;
    }
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

/// Story A: a thread of the lowest real-time priority that never sleeps.
pub(super) fn throttle(setup: &Setup, starving: bool) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    if starving {
        // Where there is a fair server (Linux 6.12), it runs this thread in front of the victim.
        let spec = ThreadSpec::new(Role::Bystander, setup.name("starving"), SchedParams::OTHER, setup.cpu);
        // It must be awake before the hog: on PREEMPT_RT its timer expires in ktimers/N, FIFO 1 as well.
        start_hog(&mut threads, setup, spec, setup.start - Ns::from_ms(50))?;
    }
    start_hog(&mut threads, setup, hog(setup), setup.start)?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

fn hog(setup: &Setup) -> ThreadSpec {
    ThreadSpec::new(Role::Culprit, setup.culprit_name("hog"), SchedParams::fifo(1), setup.cpu)
}

/// Story A2: the victim starts when the hog already has its CPU.
pub(super) fn pin_first(setup: &Setup, fixed: bool) -> Result<Threads> {
    // With one CPU the victim could not even be awake to pin itself.
    let elsewhere =
        setup.other_cpu.context("pin-first needs a second CPU: boot with two, or widen the affinity")?;
    let mut threads = Threads::new(setup, true)?;
    start_hog(&mut threads, setup, hog(setup), setup.start)?;
    let comes = setup.start + setup.interval + setup.interval;
    let spec = ThreadSpec { pin_first: !fixed, waits: Some((comes, elsewhere)), ..victim(setup) };
    let (spin, job) = (setup.spin, setup.job);
    let pace = Pace { first: comes + setup.interval, ..setup.pace() };
    threads.start(spec, move || pace.run(|_| spin.work(job)))?;
    Ok(threads)
}

/// A victim that does not request a real-time policy.
pub(super) fn fair(setup: &Setup, rivals: usize) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    start_rivals(&mut threads, setup, rivals)?;
    start_plain_victim(&mut threads, setup, ThreadSpec { sched: SchedParams::OTHER, ..victim(setup) })?;
    Ok(threads)
}

/// SCHED_OTHER threads that never sleep.
pub(super) fn start_rivals(threads: &mut Threads, setup: &Setup, rivals: usize) -> Result<()> {
    for number in 0..rivals {
        let name = format!("{}-{number}", setup.culprit_name("batch"));
        let spec = ThreadSpec::new(Role::Culprit, name, SchedParams::OTHER, setup.cpu);
        // It must be awake before the hog: on PREEMPT_RT its timer expires in ktimers/N, FIFO 1 as well.
        start_hog(threads, setup, spec, setup.start - Ns::from_ms(50))?;
    }
    Ok(())
}

/// A SCHED_OTHER victim that may use idle CPUs as well, but is never moved there: CPUs
/// without load balancing (isolcpus=, isolated cpusets) keep each thread where it woke last.
pub(super) fn wake_placement(setup: &Setup, rivals: usize) -> Result<Threads> {
    ensure!(
        setup.cpus.len() > 1,
        "wake-placement needs two isolated CPUs: boot with isolcpus=1-3 and give --cpus 1-3"
    );
    let mut threads = Threads::new(setup, true)?;
    start_rivals(&mut threads, setup, rivals)?;
    let spec = ThreadSpec { sched: SchedParams::OTHER, may_move: Some(setup.cpus.clone()), ..victim(setup) };
    start_plain_victim(&mut threads, setup, spec)?;
    Ok(threads)
}

/// sched_yield(2) at a higher priority gives the CPU to no thread of a lower one.
pub(super) fn yielding(setup: &Setup) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let sched = SchedParams::fifo((setup.priority + 5).min(99));
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("yielder"), sched, setup.cpu);
    let (pace, burst) = (setup.pace_before_victim(Ns::from_us(500)), setup.burst(Ns::from_ms(4)));
    threads.start(spec, move || {
        pace.run(|_| {
            let until = now(Clock::Monotonic) + burst;
            while now(Clock::Monotonic) < until {
                sched_yield();
            }
        })
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}
