//! The faults, by what they take from the victim.

mod cpu;
mod io;
mod locks;
mod own;

use crate::crew::{Crew, Part, Role};
use crate::options::Injection;
use crate::periodic::{Log, Pace};
use crate::setup::Setup;
use anyhow::Result;
use whylate_base::Ns;
use whylate_sys::SchedParams;

/// Starts the threads of `fault`.
///
/// # Errors
/// When this machine cannot provoke it (too few CPUs, no such file), or a thread cannot be created.
pub(crate) fn start(fault: &Injection, setup: &Setup) -> Result<Crew> {
    match fault {
        Injection::Nothing => own::nothing(setup),
        Injection::Higher => cpu::higher(setup),
        Injection::Equal => cpu::equal(setup),
        Injection::Rr => cpu::rr(setup),
        Injection::Deadline => cpu::deadline(setup),
        Injection::Throttle { starving } => cpu::throttle(setup, *starving),
        Injection::PinFirst { fixed } => cpu::pin_first(setup, *fixed),
        Injection::Fair { rivals } => cpu::fair(setup, *rivals),
        Injection::Yield => cpu::yielding(setup),
        Injection::Inversion => locks::inversion(setup),
        Injection::Pi => locks::pi(setup),
        Injection::LockChain => locks::chain(setup),
        Injection::Contention => locks::contention(setup),
        Injection::PageFault { pages, major, file } => match file {
            Some(file) if *major => io::major_faults(setup, file, *pages),
            _ => io::minor_faults(setup, *pages),
        },
        Injection::BlockIo { file } => io::block_io(setup, file),
        Injection::Softirq { receivers } => io::softirq(setup, *receivers),
        Injection::RelativeSleep => own::relative_sleep(setup),
        Injection::OwnWork => own::overrun(setup),
        Injection::TimerSlack { slack } => own::timer_slack(setup, *slack),
    }
}

/// The usual victim: SCHED_FIFO, on its CPU.
fn victim(setup: &Setup) -> Role {
    let sched = SchedParams::fifo(setup.priority);
    Role::new(Part::Victim, setup.victim_name("victim"), sched, setup.cpu)
}

/// Starts `role` as a victim that only does its work.
fn start_plain_victim(crew: &mut Crew, setup: &Setup, role: Role) -> Result<()> {
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    crew.start(role, move || pace.run(|_| spin.work(job)))
}

/// Starts `role` as a thread that works for `burst` at each of `pace`.
fn start_burst(crew: &mut Crew, setup: &Setup, role: Role, pace: Pace, burst: Ns) -> Result<()> {
    let spin = setup.spin;
    crew.start(role, move || pace.run(|_| spin.work(burst)))
}

/// Starts `role` as a thread that never sleeps from `from` to the end of the run.
fn start_hog(crew: &mut Crew, setup: &Setup, role: Role, from: Ns) -> Result<()> {
    let (spin, end) = (setup.spin, setup.end);
    crew.start(role, move || {
        if whylate_sys::sleep_until(whylate_sys::Clock::Monotonic, from).is_ok() {
            spin.work_until(end);
        }
        Log::default()
    })
}
