//! What the loads of our own do: a thread on each of their CPUs, round after round.

use super::kind::LoadKind;
use super::report::{self, READY};
use rustix::thread::{MembarrierCommand, membarrier};
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Seek, SeekFrom, Write};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_sys::Clock;

const MEMORY: usize = 16 << 20;
/// No page is smaller.
const PAGE: usize = 4096;
/// Words of 8 bytes.
const CACHE: usize = (8 << 20) / 8;
const FILE: u64 = 16 << 20;
const CHUNK: usize = 64 << 10;
const SYNC_EACH: u64 = 1 << 20;
const PACKET: usize = 1400;
const NAP: Ns = Ns::from_us(50);
/// How often a load looks whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// Works on all CPUs until `ended` receives or one of them cannot continue.
pub(super) fn serve(kind: LoadKind, cpus: &CpuSet, ended: &Receiver<()>) -> io::Result<()> {
    let (failed, failures) = mpsc::channel();
    let shared = Shared::new(kind, cpus)?;
    for cpu in cpus.iter() {
        let mut work = Work::new(kind, &shared)?;
        let failed = failed.clone();
        let run = move || {
            let bound = bind(cpu);
            let error = bound.and_then(|()| {
                loop {
                    work.round()?
                }
            });
            if let Err::<(), io::Error>(error) = error {
                let _ = failed.send(io::Error::new(error.kind(), format!("CPU {cpu}: {error}")));
            }
        };
        std::thread::Builder::new().name(format!("{kind}/{cpu}")).spawn(run)?;
    }
    report::line(READY);
    loop {
        match ended.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if let Ok(error) = failures.try_recv() {
            return Err(error);
        }
    }
}

fn bind(cpu: Cpu) -> io::Result<()> {
    whylate_sys::setaffinity(Tid(0), &[cpu].into_iter().collect()).map_err(io::Error::other)
}

/// What the threads of a load share.
struct Shared {
    words: Arc<[AtomicU64]>,
}

impl Shared {
    fn new(kind: LoadKind, cpus: &CpuSet) -> io::Result<Shared> {
        if kind == LoadKind::Irq {
            if cpus.len() < 2 {
                return Err(io::Error::other("CPUs interrupt each other: it takes two of them"));
            }
            membarrier(MembarrierCommand::RegisterPrivateExpedited)?;
        }
        let words = if kind == LoadKind::Cache { CACHE } else { 0 };
        Ok(Shared { words: (0..words).map(|_| AtomicU64::new(0)).collect() })
    }
}

/// One thread's work.
enum Work {
    Cpu { state: u64 },
    Memory,
    Cache { state: u64, words: Arc<[AtomicU64]> },
    Io { file: File, chunk: Box<[u8]>, at: u64 },
    Net { here: UdpSocket, there: UdpSocket, packet: Box<[u8]> },
    Fork,
    Timer { due: Option<Ns> },
    Irq,
}

impl Work {
    fn new(kind: LoadKind, shared: &Shared) -> io::Result<Work> {
        Ok(match kind {
            LoadKind::Cpu => Work::Cpu { state: 1 },
            LoadKind::Memory => Work::Memory,
            LoadKind::Cache => Work::Cache { state: 1, words: Arc::clone(&shared.words) },
            LoadKind::Io => {
                // It has no name, so nothing is left of it however this ends.
                Work::Io { file: tempfile::tempfile()?, chunk: vec![0x55; CHUNK].into(), at: 0 }
            }
            LoadKind::Net => {
                let (here, there) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
                here.connect(there.local_addr()?)?;
                // The kernel may drop a packet; that is no reason to wait for it.
                there.set_read_timeout(Some(Duration::from_millis(10)))?;
                Work::Net { here, there, packet: vec![0; PACKET].into() }
            }
            LoadKind::Fork => Work::Fork,
            LoadKind::Timer => Work::Timer { due: None },
            LoadKind::Irq => Work::Irq,
        })
    }

    /// Some milliseconds of it at most, on an idle CPU.
    fn round(&mut self) -> io::Result<()> {
        match self {
            Work::Cpu { state } => {
                let mut sum = 0.0;
                for _ in 0..100_000 {
                    sum += (next(state) as f64).sqrt();
                }
                black_box(sum);
            }
            Work::Memory => {
                let mut bytes = vec![0u8; MEMORY];
                bytes.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
                black_box(&bytes);
            }
            Work::Cache { state, words } => {
                for _ in 0..100_000 {
                    let at = next(state) as usize % words.len();
                    words[at].fetch_add(1, Relaxed);
                }
            }
            Work::Io { file, chunk, at } => {
                file.write_all(chunk)?;
                *at += chunk.len() as u64;
                if *at % SYNC_EACH == 0 {
                    file.sync_data()?;
                }
                if *at >= FILE {
                    *at = 0;
                    file.seek(SeekFrom::Start(0))?;
                }
            }
            Work::Net { here, there, packet } => {
                for _ in 0..32 {
                    here.send(packet)?;
                }
                for _ in 0..32 {
                    match there.recv(packet) {
                        Err(error)
                            if matches!(
                                error.kind(),
                                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                            ) =>
                        {
                            break;
                        }
                        other => drop(other?),
                    }
                }
            }
            Work::Fork => whylate_sys::fork_and_wait()?,
            Work::Timer { due } => {
                let from = match due {
                    Some(due) => *due,
                    None => {
                        whylate_sys::set_timer_slack(Ns(1)).map_err(io::Error::other)?;
                        whylate_sys::now(Clock::Monotonic)
                    }
                };
                // Late ones are not made up for: that would be another load.
                let next = (from + NAP).max(whylate_sys::now(Clock::Monotonic));
                whylate_sys::sleep_until(Clock::Monotonic, next).map_err(io::Error::other)?;
                *due = Some(next);
            }
            Work::Irq => (0..100).try_for_each(|_| membarrier(MembarrierCommand::PrivateExpedited))?,
        }
        Ok(())
    }
}

/// Marsaglia's xorshift (Journal of Statistical Software 8, 2003).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_does_its_rounds() {
        let two: CpuSet = "0-1".parse().expect("a list");
        for kind in LoadKind::ALL {
            let shared = Shared::new(kind, &two).unwrap_or_else(|error| panic!("{kind}: {error}"));
            let mut work = Work::new(kind, &shared).unwrap_or_else(|error| panic!("{kind}: {error}"));
            for _ in 0..3 {
                work.round().unwrap_or_else(|error| panic!("{kind}: {error}"));
            }
            match &work {
                Work::Io { file, at, .. } => {
                    assert_eq!(
                        (*at, file.metadata().expect("a file").len()),
                        (3 * CHUNK as u64, 3 * CHUNK as u64)
                    );
                }
                Work::Cache { words, .. } => {
                    assert_eq!(words.iter().map(|word| word.load(Relaxed)).sum::<u64>(), 300_000);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn the_file_does_not_grow_beyond_its_bound() {
        let shared = Shared::new(LoadKind::Io, &CpuSet::default()).expect("nothing to share");
        let Work::Io { file, chunk, .. } = Work::new(LoadKind::Io, &shared).expect("a file") else {
            panic!("another work")
        };
        let mut work = Work::Io { file, chunk, at: 0 };
        for _ in 0..FILE as usize / CHUNK + 5 {
            work.round().expect("written");
        }
        let Work::Io { file, .. } = work else { panic!("another work") };
        assert_eq!(file.metadata().expect("a file").len(), FILE);
    }

    #[test]
    fn it_ends_when_it_is_told_and_says_what_it_cannot() {
        let (end, ended) = mpsc::channel();
        end.send(()).expect("a listener");
        serve(LoadKind::Timer, &CpuSet::default(), &ended).expect("it ended well");
        let one: CpuSet = "0".parse().expect("a list");
        assert!(serve(LoadKind::Irq, &one, &ended).is_err(), "one CPU has no other to interrupt");
        let gone: CpuSet = "4000".parse().expect("a list");
        let error = serve(LoadKind::Cpu, &gone, &ended).expect_err("there is no such CPU");
        assert!(error.to_string().starts_with("CPU 4000"), "{error}");
    }
}
