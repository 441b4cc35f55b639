//! A cyclic master and its slave on two machines, as EtherCAT has them: the master sends a frame in each period, the slave
//! answers it at once.
//!
//! ```text
//! timer ──> master ──frame──> network ──> slave ──answer──> network ──> master
//! ```
//!
//! A job of the master is due when its timer is, and done when it has the answer. An answer carries whether a fault was at work on
//! the slave's machine, so the master's log has for each job whether a fault of either machine touched it: a job that none did and
//! that is late all the same was delayed by the host, in whose time both guests run.

use crate::options::{MasterFault, SlaveFault};
use crate::periodic::{JobRecord, Log, Why, sleep};
use crate::role::Role;
use crate::setup::{Random, Setup};
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use whylate_base::Ns;
use whylate_sys::{Clock, SchedParams, now};

/// That of EtherCAT over UDP.
const PORT: u16 = 34_980;
const FRAME: usize = 64;
/// The other machine may still boot, or start its recorder.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// An answer that takes longer was lost.
const LOST: Duration = Duration::from_millis(200);
/// Frames by which the master configures its slave, at irregular instants as those of a real one: cyclic frames alone are a mere
/// rhythm, by which clocks cannot be joined.
const CONFIGURATION: u64 = 80;
/// An end may be lost as well.
const ENDS: usize = 5;
/// What a culprit works at once; a quarter more or less by seed.
const BURST: Ns = Ns::from_ms(12);

/// A frame: what it is, its number, and whether a fault was at work where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    is_end: bool,
    struck: bool,
    number: u64,
}

impl Frame {
    fn bytes(self) -> [u8; FRAME] {
        let mut bytes = [0; FRAME];
        bytes[0] = u8::from(self.is_end);
        bytes[1] = u8::from(self.struck);
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Frame> {
        let number = u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?);
        (bytes.len() == FRAME).then(|| Frame { is_end: bytes[0] != 0, struck: bytes[1] != 0, number })
    }
}

/// When the fault was last at work.
#[derive(Clone, Debug, Default)]
struct Strikes(Arc<AtomicI64>);

impl Strikes {
    fn during(&self, work: impl FnOnce()) {
        self.0.store(i64::MAX, Ordering::SeqCst);
        work();
        self.0.store(now(Clock::Monotonic).0, Ordering::SeqCst);
    }

    /// Whether it was after `since`.
    fn after(&self, since: Ns) -> bool {
        self.0.load(Ordering::SeqCst) > since.0
    }
}

fn socket(patience: Duration) -> Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT)).context("no UDP socket")?;
    socket.set_read_timeout(Some(patience)).context("SO_RCVTIMEO")?;
    Ok(socket)
}

fn to_slave(slave: Ipv4Addr, patience: Duration) -> Result<UdpSocket> {
    let socket = socket(patience)?;
    socket.connect((slave, PORT)).with_context(|| format!("connect to {slave}"))?;
    Ok(socket)
}

/// Sends a frame and waits for its answer, whose fault is given; answers of frames before are ignored.
fn exchange(socket: &UdpSocket, number: u64) -> Option<bool> {
    socket.send(&Frame { is_end: false, struck: false, number }.bytes()).ok()?;
    let mut bytes = [0; FRAME];
    loop {
        let length = socket.recv(&mut bytes).ok()?;
        match Frame::parse(&bytes[..length]) {
            Some(answer) if answer.number == number => return Some(answer.struck),
            _ => {}
        }
    }
}

/// Waits until the slave answers, and configures it.
pub(super) fn meet(slave: Ipv4Addr, seed: u64) -> Result<()> {
    let socket = to_slave(slave, PAUSE)?;
    let begun = std::time::Instant::now();
    while exchange(&socket, u64::MAX).is_none() {
        if begun.elapsed() > PATIENCE {
            bail!("no answer of the slave at {slave}: start it there first");
        }
        std::thread::sleep(PAUSE);
    }
    socket.set_read_timeout(Some(LOST)).context("SO_RCVTIMEO")?;
    let mut random = Random(seed);
    for number in 0..CONFIGURATION {
        std::thread::sleep(Duration::from_micros(random.below(9_000).unsigned_abs()));
        exchange(&socket, u64::MAX - 1 - number);
    }
    Ok(())
}

/// The master, and what delays it.
pub(super) fn master(setup: &Setup, slave: Ipv4Addr, late: MasterFault) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let strikes = Strikes::default();
    match late {
        MasterFault::None => {}
        MasterFault::Send => burst(&mut threads, setup, &strikes, setup.priority + 9, Ns::from_us(300))?,
        MasterFault::Receive => {
            burst(&mut threads, setup, &strikes, setup.priority.saturating_sub(20).max(1), Ns::from_ms(1))?;
        }
    }
    let (pace, spin, job) = (setup.pace(), setup.spin, setup.job);
    let socket = to_slave(slave, LOST)?;
    threads.start(victim(setup, "master"), move || {
        let mut struck = Vec::with_capacity(pace.jobs());
        let mut log = pace.run_by(sleep, |due| {
            spin.work(job);
            let there = exchange(&socket, struck.len() as u64).unwrap_or_default();
            struck.push(there || strikes.after(due));
        });
        for _ in 0..ENDS {
            // The slave ends by itself where none arrives.
            let _ = socket.send(&Frame { is_end: true, struck: false, number: 0 }.bytes());
            std::thread::sleep(PAUSE);
        }
        for (job, struck) in log.jobs.iter_mut().zip(struck) {
            job.fault = (!struck).then_some(Why::Nothing);
        }
        log
    })?;
    Ok(threads)
}

/// A SCHED_FIFO thread that works in bursts, from `lead` before the master is due.
fn burst(threads: &mut Threads, setup: &Setup, strikes: &Strikes, priority: u32, lead: Ns) -> Result<()> {
    let (pace, length, spin) = (setup.pace_before_victim(lead), setup.burst(BURST), setup.spin);
    let spec = culprit(setup, "hog", SchedParams::fifo(priority.min(99)));
    let strikes = strikes.clone();
    threads.start(spec, move || pace.run(|_| strikes.during(|| spin.work(length))))
}

fn victim(setup: &Setup, name: &str) -> ThreadSpec {
    ThreadSpec::new(Role::Victim, setup.victim_name(name), setup.victim_sched, setup.cpu)
}

fn culprit(setup: &Setup, name: &str, sched: SchedParams) -> ThreadSpec {
    ThreadSpec::new(Role::Culprit, setup.culprit_name(name), sched, setup.cpu)
}

/// The slave, and what delays it.
pub(super) fn slave(setup: &Setup, late: SlaveFault) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let strikes = Strikes::default();
    let priority = match late {
        SlaveFault::None => None,
        SlaveFault::Thread => Some((setup.priority + 9).min(99)),
        // An IRQ thread has 50 (setup_irq_thread, kernel/irq/manage.c).
        SlaveFault::IrqThread => Some(setup.priority.saturating_sub(5).max(51)),
    };
    let (expects, bursts) = channel();
    if let Some(priority) = priority {
        let spec = culprit(setup, "hog", SchedParams::fifo(priority));
        let (spin, length, strikes) = (setup.spin, setup.burst(BURST), strikes.clone());
        threads.start(spec, move || at_each(&bursts, || strikes.during(|| spin.work(length))))?;
    }
    let periods = (setup.every.0 / setup.interval.0).max(2).unsigned_abs();
    let slave = Slave {
        socket: socket(PATIENCE)?,
        strikes,
        expects: priority.map(|_| expects),
        periods,
        first: setup.below(periods.cast_signed() - 1).unsigned_abs(),
        lead: setup.interval - Ns::from_ms(2),
        log: Log::with_room(setup.pace().jobs() + 64),
    };
    let (spin, job) = (setup.spin, setup.job);
    threads.start(victim(setup, "slave"), move || slave.run(|| spin.work(job)))?;
    Ok(threads)
}

/// Works at each instant that comes by `bursts`.
fn at_each(bursts: &Receiver<Ns>, mut work: impl FnMut()) -> Log {
    while let Ok(at) = bursts.recv() {
        if sleep(at) {
            work();
        }
    }
    Log::default()
}

/// The thread that answers.
struct Slave {
    socket: UdpSocket,
    strikes: Strikes,
    /// Where the culprit gets the instants of its bursts.
    expects: Option<Sender<Ns>>,
    /// One frame in so many meets a burst.
    periods: u64,
    first: u64,
    /// After a frame, until the burst that the next one meets.
    lead: Ns,
    log: Log,
}

impl Slave {
    fn run(mut self, mut work: impl FnMut()) -> Log {
        let mut bytes = [0; FRAME];
        let mut answered = Ns::ZERO;
        while let Some((frame, from)) = self.next(&mut bytes) {
            let start = now(Clock::Monotonic);
            if frame.is_end {
                break;
            }
            work();
            let answer = Frame { struck: self.strikes.after(answered), ..frame };
            // A lost answer is late.
            let _ = self.socket.send_to(&answer.bytes(), from);
            answered = now(Clock::Monotonic);
            self.log.push(JobRecord::new(start, start, answered));
            if frame.number < u64::MAX / 2
                && frame.number % self.periods == self.first
                && let Some(expects) = &self.expects
            {
                // The culprit lives until this sender is gone.
                let _ = expects.send(start + self.lead);
            }
        }
        self.log
    }

    /// `None`: no frame came for long.
    fn next(&self, bytes: &mut [u8; FRAME]) -> Option<(Frame, SocketAddr)> {
        loop {
            match self.socket.recv_from(bytes) {
                Ok((length, from)) => {
                    if let Some(frame) = Frame::parse(&bytes[..length]) {
                        return Some((frame, from));
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_survives_the_network() {
        let frame = Frame { is_end: false, struck: true, number: 1 << 40 };
        assert_eq!(Frame::parse(&frame.bytes()), Some(frame));
        assert_eq!(Frame::parse(&frame.bytes()[..FRAME - 1]), None);
        assert_eq!(Frame::parse(&[]), None);
    }

    #[test]
    fn a_fault_touches_what_it_was_at_work_in() {
        let strikes = Strikes::default();
        let before = now(Clock::Monotonic);
        assert!(!strikes.after(before));
        strikes.during(|| assert!(strikes.after(before)));
        assert!(strikes.after(before));
        assert!(!strikes.after(now(Clock::Monotonic) + Ns(1)));
    }
}
