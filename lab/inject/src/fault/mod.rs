//! The faults, by the resource that they take from the victim.

mod cpu;
mod exchange;
mod io;
mod kernel;
mod limits;
mod locks;
mod mixed;
mod own;
mod pipeline;
mod start;

use crate::options::Injection;
use crate::setup::Setup;
use crate::threads::Threads;
use anyhow::Result;

/// Waits for what `fault` needs beside this machine; before instants are fixed.
///
/// # Errors
/// When the other machine does not answer.
pub(crate) fn prepare(fault: &Injection, seed: u64) -> Result<()> {
    match fault {
        Injection::Master { slave, .. } => exchange::meet(*slave, seed),
        _ => Ok(()),
    }
}

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
        Injection::LockChain { pi } => locks::lock_chain(setup, *pi),
        Injection::Contention { one_cpu } => locks::contention(setup, *one_cpu),
        Injection::PageFault { pages, major, file, prefault } => match file {
            Some(file) if *major => io::major_faults(setup, file, *pages, *prefault),
            _ => io::minor_faults(setup, *pages, *prefault),
        },
        Injection::BlockIo { file, helper } => io::block_io(setup, file, *helper),
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
        Injection::Pipeline { late } => pipeline::pipeline(setup, *late),
        Injection::LatePacket => pipeline::late_packet(setup),
        Injection::WorkItem => pipeline::work_item(setup),
        Injection::Master { slave, late } => exchange::master(setup, *slave, *late),
        Injection::Slave { late } => exchange::slave(setup, *late),
    }
}
