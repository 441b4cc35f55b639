//! Faults of memory, devices and the network.

use super::start::{start_plain_victim, victim};
use crate::behaviours::Behaviours;
use crate::periodic::Pace;
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result, ensure};
use rustix::fs::{Advice, OFlags, fadvise};
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketType, bind, socket};
use rustix::thread::disable_transparent_huge_pages;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use whylate_sys::{Clock, FileMap, SchedParams, now};

const PAGE: usize = 4096;

/// Beyond the largest allocation that glibc's malloc(3) serves from memory it already has
/// (DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB), so that each one is a fresh mapping.
const FRESH: usize = 40 << 20;

/// One job in several touches fresh pages: the program never locked what it maps later. `prefault`: pages that it touched before
/// the run.
pub(super) fn minor_faults(setup: &Setup, pages: usize, prefault: bool) -> Result<Threads> {
    // One huge page would take the place of 512 faults, where the kernel has one to give.
    disable_transparent_huge_pages(true).context("prctl(PR_SET_THP_DISABLE)")?;
    let fresh = move || vec![0_u8; FRESH.max(pages.saturating_mul(PAGE))];
    let touch = move |memory: &mut [u8]| {
        for page in memory.chunks_mut(PAGE).take(pages) {
            if let Some(byte) = page.first_mut() {
                *byte = black_box(1);
            }
        }
        black_box(memory);
    };
    if prefault {
        let mut memory = fresh();
        touch(&mut memory);
        return faulty_jobs(setup, move || touch(&mut memory));
    }
    faulty_jobs(setup, move || touch(&mut fresh()))
}

/// One job in several touches pages of a file that are no longer in the page cache. `prefault`: one mapping, whose pages were read
/// before the run.
pub(super) fn major_faults(setup: &Setup, path: &Path, pages: usize, prefault: bool) -> Result<Threads> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let length = pages.saturating_mul(PAGE);
    let map = FileMap::new(&file, length)
        .with_context(|| format!("cannot map {length} bytes of {}", path.display()))?;
    let read = move |map: &FileMap| {
        for page in 0..pages {
            black_box(map.read(page * PAGE));
        }
    };
    if prefault {
        read(&map);
        return faulty_jobs(setup, move || read(&map));
    }
    faulty_jobs(setup, move || {
        // Read-ahead off: one fault reads one page. The kernel may ignore both hints.
        let _ = fadvise(&file, 0, None, Advice::Random);
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
        if let Ok(map) = FileMap::new(&file, length) {
            read(&map);
        }
    })
}

/// One job in several reads 4 KiB with O_DIRECT, each time from another place. `helper`: a SCHED_OTHER thread reads at the same
/// pace, and the job only works.
pub(super) fn block_io(setup: &Setup, path: &Path, helper: bool) -> Result<Threads> {
    let flags = i32::try_from(OFlags::DIRECT.bits()).context("O_DIRECT")?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .with_context(|| format!("cannot open {} with O_DIRECT", path.display()))?;
    // O_DIRECT wants memory aligned to the device's block.
    let mut memory = vec![0_u8; 2 * PAGE];
    let skip = memory.as_ptr().align_offset(PAGE);
    let mut place = 0_u64;
    let mut read = move || {
        place = (place + 37) % 256;
        let block = memory.get_mut(skip..skip + PAGE).context("no aligned memory")?;
        file.read_at(block, place * PAGE as u64).map(drop).context("a read with O_DIRECT failed")
    };
    read()?;
    // It worked before the run; a failure now shows as a job in time.
    let mut read = move || drop(read());
    if helper {
        let mut threads = Threads::new(setup, false)?;
        let reader = ThreadSpec::new(Role::Bystander, setup.name("reader"), SchedParams::OTHER, setup.cpu);
        let pace = Pace { interval: setup.every, behaviours: Behaviours::default(), ..setup.pace() };
        threads.start(reader, move || pace.run(|_| read()))?;
        start_plain_victim(&mut threads, setup, victim(setup))?;
        return Ok(threads);
    }
    faulty_jobs(setup, read)
}

/// A victim that does its usual work in each job, and `fault` in one job of several.
fn faulty_jobs(setup: &Setup, mut fault: impl FnMut() + Send + 'static) -> Result<Threads> {
    let mut threads = Threads::new(setup, false)?;
    let (pace, spin, job, per_fault) = (setup.pace(), setup.spin, setup.job, setup.jobs_per_fault());
    threads.start(victim(setup), move || {
        pace.run(|number| {
            if number % per_fault == per_fault / 2 {
                fault();
            }
            spin.work(job);
        })
    })?;
    Ok(threads)
}

/// Packets to the loopback network's broadcast address, each delivered to every receiver
/// by the softirq that the sender raises on its own CPU.
pub(super) fn softirq(setup: &Setup, receivers: usize) -> Result<Threads> {
    ensure!(receivers > 0, "--receivers must be at least 1");
    let port = free_port()?;
    let sockets = (0..receivers).map(|_| receiver(port)).collect::<Result<Vec<_>>>()?;
    let sender =
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context("no UDP socket on 127.0.0.1: is lo up?")?;
    sender.set_broadcast(true).context("SO_BROADCAST")?;
    let to = SocketAddrV4::new(Ipv4Addr::new(127, 255, 255, 255), port);
    sender.send_to(&[0], to).with_context(|| format!("cannot send to {to}: is lo up?"))?;

    let mut threads = Threads::new(setup, true)?;
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("flood"), SchedParams::OTHER, setup.cpu);
    let burst = setup.burst(setup.every);
    let pace = Pace { interval: setup.every, behaviours: Behaviours::default(), ..setup.pace() };
    threads.start(spec, move || {
        let payload = [0_u8; 1_400];
        let log = pace.run(|_| {
            let until = (now(Clock::Monotonic) + burst).min(pace.end);
            while now(Clock::Monotonic) < until {
                // A full queue is what a flood runs into; the softirq has run all the same.
                let _ = sender.send_to(&payload, to);
            }
        });
        drop(sockets);
        log
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

fn free_port() -> Result<u16> {
    let any = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).context("no free UDP port")?;
    Ok(any.local_addr().context("getsockname")?.port())
}

/// One of many sockets on the same port, which std cannot make.
fn receiver(port: u16) -> Result<OwnedFd> {
    let fd = socket(AddressFamily::INET, SocketType::DGRAM, None)
        .context("no socket: too many receivers for RLIMIT_NOFILE?")?;
    set_socket_reuseaddr(&fd, true).context("SO_REUSEADDR")?;
    bind(&fd, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)).context("bind")?;
    Ok(fd)
}
