//! The ring buffer that events of one CPU write their records to.

use super::PerfEvent;
use super::abi::{DATA_HEAD, DATA_TAIL};
use crate::SysError;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use whylate_base::Cpu;

/// A record's header: type, misc and size (`struct perf_event_header`).
const HEADER: usize = 8;

/// A mapped ring. The event that it belongs to lives as long.
#[derive(Debug)]
pub struct PerfRing {
    event: PerfEvent,
    start: *mut c_void,
    page: usize,
    /// Bytes of the ring proper, a power of two.
    size: usize,
    /// A record that the ring's end cuts in two.
    joined: Vec<u8>,
}

// SAFETY: the mapping belongs to the process; one reader at a time has it by `&mut self`.
unsafe impl Send for PerfRing {}

impl PerfRing {
    /// Maps a ring of `bytes`, rounded up to a power of two of pages, for an event and those that are told to write to it.
    /// The kernel makes it readable to poll(2) when it is half full: earlier wake-ups would interrupt the sampled threads.
    ///
    /// # Errors
    /// `EPERM` when it is more than this user may lock: `kernel.perf_event_mlock_kb`, and RLIMIT_MEMLOCK beyond that;
    /// `ENOMEM`.
    ///
    /// [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "MMAP layout"
    pub fn new(event: PerfEvent, bytes: usize) -> Result<PerfRing, SysError> {
        let page = rustix::param::page_size();
        let size = bytes.div_ceil(page).max(1).next_power_of_two() * page;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a free address (the hint is null, without MAP_FIXED).
        let start =
            unsafe { mmap(std::ptr::null_mut(), page + size, protection, MapFlags::SHARED, &event, 0) };
        let start = start.map_err(|errno| {
            let what = format!("{} KiB for samples of CPU {}", size / 1024, event.cpu());
            SysError::new("mmap", what, errno.raw_os_error())
        })?;
        Ok(PerfRing { event, start, page, size, joined: Vec::new() })
    }

    /// The CPU whose records it has.
    pub fn cpu(&self) -> Cpu {
        self.event.cpu()
    }

    /// The event that it was made for.
    pub fn owner(&self) -> &PerfEvent {
        &self.event
    }

    /// Gives every record that is complete now to `take`, header included, and frees its space.
    pub fn read(&mut self, mut take: impl FnMut(&[u8])) {
        let control = self.start.cast::<u8>();
        // SAFETY: the first page of the mapping is the control page, which lives as long as self; both members are
        // aligned u64s that the kernel reads and writes as single values.
        let (head, tail) = unsafe {
            (
                AtomicU64::from_ptr(control.add(DATA_HEAD).cast()),
                AtomicU64::from_ptr(control.add(DATA_TAIL).cast()),
            )
        };
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        while end.wrapping_sub(at) >= HEADER as u64 {
            let header = self.bytes(at, HEADER);
            let length = header.get(6..8).and_then(|size| size.try_into().ok()).map_or(0, u16::from_ne_bytes);
            let length = usize::from(length);
            if length < HEADER || length as u64 > end.wrapping_sub(at) {
                // Nothing that the kernel writes: give all of it up rather than read it askew.
                at = end;
                break;
            }
            let offset = self.offset(at);
            if offset + length <= self.size {
                take(self.bytes(at, length));
            } else {
                let first = self.size - offset;
                let mut joined = std::mem::take(&mut self.joined);
                joined.clear();
                joined.extend_from_slice(self.bytes(at, first));
                joined.extend_from_slice(self.bytes(at + first as u64, length - first));
                take(&joined);
                self.joined = joined;
            }
            at += length as u64;
        }
        tail.store(at, Ordering::Release);
    }

    fn offset(&self, at: u64) -> usize {
        (at % self.size as u64) as usize
    }

    /// `length` bytes from a position, cut at the ring's end.
    fn bytes(&self, at: u64, length: usize) -> &[u8] {
        let offset = self.offset(at);
        let length = length.min(self.size - offset);
        // SAFETY: inside the mapping, which lives as long as self. The kernel does not write between tail and head, and
        // only such bytes are asked for.
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>().add(self.page + offset), length) }
    }
}

impl AsFd for PerfRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for PerfRing {
    fn drop(&mut self) {
        // SAFETY: exactly what mmap gave, and no reference into it exists.
        // It cannot fail for a mapping of its own, and a destructor cannot report it.
        let _ = unsafe { munmap(self.start, self.page + self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PerfCounter, PerfOptions, gettid};
    use whylate_testing::{Need, skip};

    #[test]
    fn page_faults_of_the_calling_thread_arrive_in_its_ring() {
        let cpu = crate::current_cpu();
        crate::setaffinity(whylate_base::Tid(0), &[cpu].into_iter().collect()).expect("one of its CPUs");
        let options = PerfOptions {
            counter: PerfCounter::MinorFaults,
            period: 1,
            inherit: false,
            kernel: false,
            kernel_stack: false,
            user_stack: 1024,
            mappings: false,
        };
        let event = match PerfEvent::open(&options, gettid(), cpu) {
            Ok(event) => event,
            Err(error) => return skip(Need::Machine, format_args!("no perf events: {error}")),
        };
        let id = event.id().expect("an id");
        // So small that records wrap around its end.
        let mut ring = PerfRing::new(event, 4096 * 2).expect("a ring");
        let mut samples = 0;
        let mut held = Vec::new();
        for _ in 0..16 {
            ring.owner().enable().expect("enabled");
            // Fresh pages each time: none is given back to the allocator meanwhile.
            held.push(vec![1u8; 1 << 20]);
            ring.owner().disable().expect("disabled");
            ring.read(|record| {
                assert_eq!(record.len() % 8, 0);
                let kind = u32::from_ne_bytes(record[..4].try_into().expect("4 bytes"));
                if kind == 9 {
                    assert_eq!(record[8..16], id.to_ne_bytes(), "PERF_RECORD_SAMPLE begins with the id");
                    samples += 1;
                }
            });
        }
        assert_eq!(held.iter().map(|fresh| u64::from(fresh[5])).sum::<u64>(), 16);
        assert!(samples >= 16, "{samples} page faults");
    }
}
