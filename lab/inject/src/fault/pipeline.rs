//! Faults in a chain of threads: a timer wakes the first, each lets the next one go on, and one of them is delayed.
//!
//! ```text
//! timer ──> sense ──pipe──> plan ──packet on lo──> act
//! ```
//!
//! A job of the second and the third thread is due when the message for it was sent.

use super::start::start_burst;
use crate::options::Stage;
use crate::periodic::{JobRecord, Log, Pace};
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use whylate_base::{Cpu, Ns};
use whylate_sys::{Clock, SchedParams, now};

/// A message ends the run of the thread that gets it.
const END: i64 = -1;

/// One end of what two threads exchange messages by.
trait Outgoing: Send {
    fn send(&mut self, message: [u8; 8]);
}

trait Incoming: Send {
    /// `None` where nothing comes any more.
    fn receive(&mut self) -> Option<[u8; 8]>;
}

struct ByFile(File);

impl Outgoing for ByFile {
    fn send(&mut self, message: [u8; 8]) {
        // The reader ends only after the last message.
        let _ = self.0.write_all(&message);
    }
}

impl Incoming for ByFile {
    fn receive(&mut self) -> Option<[u8; 8]> {
        let mut message = [0; 8];
        self.0.read_exact(&mut message).ok().map(|()| message)
    }
}

struct BySocket(UdpSocket);

impl Outgoing for BySocket {
    fn send(&mut self, message: [u8; 8]) {
        // A socket of this process with room for it.
        let _ = self.0.send(&message);
    }
}

impl Incoming for BySocket {
    fn receive(&mut self) -> Option<[u8; 8]> {
        let mut message = [0; 8];
        self.0.recv(&mut message).ok().filter(|&length| length == message.len()).map(|_| message)
    }
}

fn pipe() -> Result<(Box<dyn Outgoing>, Box<dyn Incoming>)> {
    let (read, write) = rustix::pipe::pipe().context("pipe(2)")?;
    Ok((Box::new(ByFile(write.into())), Box::new(ByFile(read.into()))))
}

fn loopback() -> Result<(Box<dyn Outgoing>, Box<dyn Incoming>)> {
    let any = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let receiver = UdpSocket::bind(any).context("no UDP socket on 127.0.0.1: is lo up?")?;
    let sender = UdpSocket::bind(any).context("no UDP socket on 127.0.0.1: is lo up?")?;
    sender.connect(receiver.local_addr().context("getsockname")?).context("connect")?;
    Ok((Box::new(BySocket(sender)), Box::new(BySocket(receiver))))
}

/// What is written to one side of a pseudoterminal is taken to the other by a work item (`flush_to_ldisc`,
/// drivers/tty/tty_buffer.c) of an unbound workqueue.
fn terminal() -> Result<(Box<dyn Outgoing>, Box<dyn Incoming>)> {
    let master =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).context("no pseudoterminal: is devpts mounted?")?;
    grantpt(&master).context("grantpt")?;
    unlockpt(&master).context("unlockpt")?;
    let path = ptsname(&master, Vec::new()).context("ptsname")?;
    let slave = rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
        .context("the pseudoterminal's slave")?;
    let mut settings = tcgetattr(&slave).context("tcgetattr")?;
    settings.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &settings).context("tcsetattr")?;
    Ok((Box::new(ByFile(master.into())), Box::new(ByFile(slave.into()))))
}

/// Sends the instant, which is when the receiver's job is due.
fn pass_on(to: &mut dyn Outgoing) {
    to.send(now(Clock::Monotonic).0.to_ne_bytes());
}

/// The part of a thread that does a job for each message, and then what comes `after` it.
fn relay(mut from: Box<dyn Incoming>, jobs: usize, mut job: impl FnMut(), mut after: impl FnMut()) -> Log {
    let mut log = Log::with_room(jobs);
    while let Some(message) = from.receive() {
        let sent = i64::from_ne_bytes(message);
        if sent == END {
            break;
        }
        let start = now(Clock::Monotonic);
        job();
        after();
        log.push(JobRecord::new(Ns(sent), start, now(Clock::Monotonic)));
    }
    log
}

/// Three threads in a row; a thread of higher priority works in bursts on the CPU of one of them, from just before it is
/// let go on.
pub(super) fn pipeline(setup: &Setup, late: Stage) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let elsewhere =
        setup.other_cpu.context("pipeline needs a second CPU: boot with two, or widen the affinity")?;
    let (mut to_plan, plan_gets) = pipe()?;
    let (mut to_act, act_gets) = loopback()?;
    let stage = |stage: Stage, name: &str, cpu: Cpu| {
        let sched = SchedParams::fifo(setup.priority);
        match stage == late {
            true => ThreadSpec::new(Role::Victim, setup.victim_name(name), sched, cpu),
            false => ThreadSpec::new(Role::Bystander, setup.name(name), sched, cpu),
        }
    };
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let room = pace.jobs() + 8;

    let culprit_cpu = if late == Stage::Plan { elsewhere } else { setup.cpu };
    // After the job of the stage before has begun, and well before it ends.
    let lead = match late {
        Stage::None => None,
        Stage::Sense => Some(Ns::from_us(150)),
        Stage::Plan => Some(Ns(-job.0 / 2)),
        Stage::Act => Some(Ns(-job.0 * 7 / 4)),
    };
    if let Some(lead) = lead {
        let sched = SchedParams::fifo((setup.priority + 9).min(99));
        let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("rogue-high"), sched, culprit_cpu);
        start_burst(&mut threads, setup, spec, setup.pace_before_victim(lead), setup.burst(Ns::from_ms(3)))?;
    }
    threads.start(stage(Stage::Act, "act", setup.cpu), move || {
        relay(act_gets, room, || spin.work(job), || {})
    })?;
    threads.start(stage(Stage::Plan, "plan", elsewhere), move || {
        let mut sends = || pass_on(to_act.as_mut());
        let log = relay(plan_gets, room, || spin.work(job), &mut sends);
        to_act.send(END.to_ne_bytes());
        log
    })?;
    threads.start(stage(Stage::Sense, "sense", setup.cpu), move || {
        let log = pace.run(|_| {
            spin.work(job);
            pass_on(to_plan.as_mut());
        });
        to_plan.send(END.to_ne_bytes());
        log
    })?;
    Ok(threads)
}

/// A thread sends a message in each period, by packets on lo; a thread that never preempts the receiver keeps the CPU
/// busy on which the kernel receives them (`rps_cpus` of lo).
pub(super) fn late_packet(setup: &Setup) -> Result<Threads> {
    by_proxy(setup, loopback()?)
}

/// The same by a pseudoterminal; a thread keeps the CPU busy on which the kernel executes unbound work items.
pub(super) fn work_item(setup: &Setup) -> Result<Threads> {
    by_proxy(setup, terminal()?)
}

/// Sender and receiver are on one CPU, what is between them on another, where the culprit works in bursts.
fn by_proxy(setup: &Setup, (mut to, gets): (Box<dyn Outgoing>, Box<dyn Incoming>)) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let here = setup.other_cpu.context("needs a second CPU: boot with two, or widen the affinity")?;
    let busy = setup.cpu;
    let pace: Pace = setup.pace();
    let (spin, job, room) = (setup.spin, setup.job, pace.jobs() + 8);
    let sched = SchedParams::fifo(setup.priority.saturating_sub(20).max(1));
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("hog"), sched, busy);
    start_burst(
        &mut threads,
        setup,
        spec,
        setup.pace_before_victim(Ns::from_us(500)),
        setup.burst(Ns::from_ms(4)),
    )?;
    let victim = ThreadSpec::new(Role::Victim, setup.victim_name("reader"), setup.victim_sched, here);
    threads.start(victim, move || relay(gets, room, || spin.work(job), || {}))?;
    let sched = SchedParams::fifo(setup.priority.saturating_sub(1).max(1));
    let sender = ThreadSpec::new(Role::Bystander, setup.name("sender"), sched, here);
    threads.start(sender, move || {
        let log = pace.run(|_| pass_on(to.as_mut()));
        to.send(END.to_ne_bytes());
        log
    })?;
    Ok(threads)
}
