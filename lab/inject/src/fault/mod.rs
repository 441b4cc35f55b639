//! The faults, by the resource that they take from the victim.

mod cpu;
mod io;
mod kernel;
mod limits;
mod locks;
mod mixed;
mod own;

use crate::options::Injection;
use crate::periodic::{Log, Pace};
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::Result;
use whylate_base::{CpuSet, Ns};

/// Starts the threads of `fault`.
///
/// # Errors
/// When this machine cannot provoke it (too few CPUs, no such file), or a thread cannot be created.
pub(crate) fn start(fault: &Injection, setup: &Setup) -> Result<Threads> {
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
        Injection::Contention { one_cpu } => locks::contention(setup, *one_cpu),
        Injection::PageFault { pages, major, file } => match file {
            Some(file) if *major => io::major_faults(setup, file, *pages),
            _ => io::minor_faults(setup, *pages),
        },
        Injection::BlockIo { file } => io::block_io(setup, file),
        Injection::Softirq { receivers } => io::softirq(setup, *receivers),
        Injection::RelativeSleep => own::relative_sleep(setup),
        Injection::OwnWork => own::overrun(setup),
        Injection::TimerSlack { slack } => own::timer_slack(setup, *slack),
        Injection::StopTask { hotplug: true, .. } => kernel::hotplug(setup),
        Injection::StopTask { signals, hotplug: false } => kernel::stop_task(setup, *signals),
        Injection::IrqLoad { port } => kernel::irq_load(setup, port),
        Injection::Timers { count } => kernel::timers(setup, *count),
        Injection::PreemptOff { files } => kernel::preempt_off(setup, *files),
        Injection::IrqsOff { signals } => kernel::irqs_off(setup, *signals),
        Injection::CgroupQuota { quota, quota_period } => limits::quota(setup, *quota, *quota_period),
        Injection::RtRefused { rivals, .. } => limits::refused(setup, *rivals),
        Injection::Rttime { budget } => limits::rttime(setup, *budget),
        Injection::WakePlacement { rivals } => cpu::wake_placement(setup, *rivals),
        Injection::CoarseClock => own::coarse_clock(setup),
        Injection::TwoCauses => mixed::two_causes(setup),
        Injection::TwoVictims => mixed::two_victims(setup),
    }
}

/// The usual victim: with the requested policy, on its CPU.
fn victim(setup: &Setup) -> ThreadSpec {
    let spec = ThreadSpec::new(Role::Victim, setup.victim_name("victim"), setup.victim_sched, setup.cpu);
    // Its behaviours move it; here it must only not be bound to one CPU.
    ThreadSpec { may_move: setup.victim_moves().then(|| CpuSet::from_iter([setup.cpu])), ..spec }
}

/// Starts `spec` as a victim with its usual work only.
fn start_plain_victim(threads: &mut Threads, setup: &Setup, spec: ThreadSpec) -> Result<()> {
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    threads.start(spec, move || pace.run(|_| spin.work(job)))
}

/// Starts `spec` as a thread that works for `burst` at each of `pace`.
fn start_burst(threads: &mut Threads, setup: &Setup, spec: ThreadSpec, pace: Pace, burst: Ns) -> Result<()> {
    let spin = setup.spin;
    threads.start(spec, move || pace.run(|_| spin.work(burst)))
}

/// Starts `spec` as a thread that never sleeps from `from` to the end of the run.
fn start_hog(threads: &mut Threads, setup: &Setup, spec: ThreadSpec, from: Ns) -> Result<()> {
    let (spin, end) = (setup.spin, setup.end);
    threads.start(spec, move || {
        if whylate_sys::sleep_until(whylate_sys::Clock::Monotonic, from).is_ok() {
            spin.work_until(end);
        }
        Log::default()
    })
}
