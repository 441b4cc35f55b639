//! Memory that is mapped, touched page by page and unmapped again: what page faults cost.

use crate::SysError;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use whylate_base::Ns;

/// How memory is mapped.
///
/// [`mmap(2)`](https://man7.org/linux/man-pages/man2/mmap.2.html),
/// [`madvise(2)`](https://man7.org/linux/man-pages/man2/madvise.2.html)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// Private and anonymous, in base pages (MADV_NOHUGEPAGE); no page is there yet.
    Lazily,
    /// The same, with all pages there (MAP_POPULATE).
    Populated,
    /// The same, locked as well (MAP_LOCKED).
    Locked,
    /// In transparent huge pages, where they are enabled (MADV_HUGEPAGE).
    Huge,
    /// In huge pages of the pool (MAP_HUGETLB).
    Hugetlb,
}

/// Mapped memory of this process; unmapped when it is dropped.
#[derive(Debug)]
pub struct MappedMemory {
    start: NonNull<u8>,
    length: usize,
}

impl MappedMemory {
    /// Maps `length` bytes, a multiple of the size of the pages.
    ///
    /// # Errors
    /// `ENOMEM` without memory or huge pages, `EAGAIN` or `EPERM` where the limit of locked memory is too low.
    pub fn anonymous(length: usize, how: Mapped) -> Result<MappedMemory, SysError> {
        let flags = match how {
            Mapped::Lazily | Mapped::Huge => 0,
            Mapped::Populated => libc::MAP_POPULATE,
            Mapped::Locked => libc::MAP_LOCKED | libc::MAP_POPULATE,
            Mapped::Hugetlb => libc::MAP_HUGETLB,
        };
        let mapping = map(length, flags | libc::MAP_ANONYMOUS | libc::MAP_PRIVATE, -1)?;
        let advice = match how {
            Mapped::Lazily => libc::MADV_NOHUGEPAGE,
            Mapped::Huge => libc::MADV_HUGEPAGE,
            Mapped::Populated | Mapped::Locked | Mapped::Hugetlb => return Ok(mapping),
        };
        match mapping.advise(advice, "MADV_HUGEPAGE or MADV_NOHUGEPAGE") {
            // A kernel without huge pages has base pages only.
            Err(error) if how == Mapped::Lazily && error.errno() == libc::EINVAL => Ok(mapping),
            advised => advised.map(|()| mapping),
        }
    }

    /// Maps the beginning of a file, to be read at random (MADV_RANDOM): a page fault brings in one page.
    ///
    /// # Errors
    /// `ENODEV` for a file that cannot be mapped.
    pub fn file(file: &File, length: usize) -> Result<MappedMemory, SysError> {
        let mapping = map_with(length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd())?;
        mapping.advise(libc::MADV_RANDOM, "MADV_RANDOM")?;
        Ok(mapping)
    }

    /// Writes one byte in every `step` bytes.
    pub fn write(&mut self, step: usize) {
        for at in (0..self.length).step_by(step.max(1)) {
            // SAFETY: `at` is within the mapping, which lives as long as `self` and is writable: `file` is only read.
            unsafe { self.start.add(at).write_volatile(1) };
        }
    }

    /// Writes one byte at the start of each part of `size` bytes that lies in it as a whole and begins at a multiple of `size`.
    pub fn write_aligned(&mut self, size: usize) {
        let size = size.max(1);
        let first = self.start.as_ptr().addr().next_multiple_of(size) - self.start.as_ptr().addr();
        for at in (first..self.length).step_by(size).filter(|at| at + size <= self.length) {
            // SAFETY: `at` is within the mapping, which lives as long as `self` and is writable: `file` is only read.
            unsafe { self.start.add(at).write_volatile(1) };
        }
    }

    /// Reads one byte in every `step` bytes.
    pub fn read(&self, step: usize) {
        for at in (0..self.length).step_by(step.max(1)) {
            // SAFETY: `at` is within the mapping, which lives as long as `self`.
            unsafe { self.start.add(at).read_volatile() };
        }
    }

    /// Locks all of it, which brings in every page.
    ///
    /// # Errors
    /// `ENOMEM` or `EPERM` where RLIMIT_MEMLOCK is too low and CAP_IPC_LOCK is missing.
    ///
    /// [`mlock(2)`](https://man7.org/linux/man-pages/man2/mlock.2.html)
    pub fn lock(&self) -> Result<(), SysError> {
        // SAFETY: the mapping lives as long as `self`; locking changes no byte of it.
        match unsafe { libc::mlock(self.start.as_ptr().cast(), self.length) } {
            0 => Ok(()),
            _ => Err(SysError::last("mlock", format!("{} bytes", self.length))),
        }
    }

    /// Unlocks all of it.
    ///
    /// # Errors
    /// None that `mlock(2)` documents for memory that is mapped.
    pub fn unlock(&self) -> Result<(), SysError> {
        // SAFETY: as above.
        match unsafe { libc::munlock(self.start.as_ptr().cast(), self.length) } {
            0 => Ok(()),
            _ => Err(SysError::last("munlock", format!("{} bytes", self.length))),
        }
    }

    fn advise(&self, advice: libc::c_int, name: &str) -> Result<(), SysError> {
        // SAFETY: the advices used here change how pages are brought in, not what they hold.
        match unsafe { libc::madvise(self.start.as_ptr().cast(), self.length, advice) } {
            0 => Ok(()),
            _ => Err(SysError::last("madvise", name)),
        }
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no reference into it exists.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

fn map(length: usize, flags: libc::c_int, fd: libc::c_int) -> Result<MappedMemory, SysError> {
    map_with(length, libc::PROT_READ | libc::PROT_WRITE, flags, fd)
}

fn map_with(
    length: usize,
    protection: libc::c_int,
    flags: libc::c_int,
    fd: libc::c_int,
) -> Result<MappedMemory, SysError> {
    // SAFETY: without MAP_FIXED the kernel chooses a place that nothing else has.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, 0) };
    match NonNull::new(start.cast::<u8>()).filter(|_| start != libc::MAP_FAILED) {
        Some(start) => Ok(MappedMemory { start, length }),
        None => Err(SysError::last("mmap", format!("{length} bytes"))),
    }
}

/// Extends the heap by `length` bytes (brk(2)), writes one byte in every `step`, and takes them back; gives the time of all
/// three. In a child process: there no allocator uses the heap meanwhile.
///
/// # Errors
/// When the child cannot be created, or the heap not be extended.
///
/// [`brk(2)`](https://man7.org/linux/man-pages/man2/brk.2.html)
pub fn grow_heap(length: usize, step: usize) -> Result<Ns, SysError> {
    let shared = map(std::mem::size_of::<i64>(), libc::MAP_ANONYMOUS | libc::MAP_SHARED, -1)?;
    let took = shared.start.cast::<i64>();
    // SAFETY: the child makes only system calls that are async-signal-safe, touches the part of its own heap that it has
    // just added, writes to a mapping that it shares with its parent, and does not return.
    let child = unsafe {
        match libc::fork() {
            0 => {
                let start = crate::now(crate::Clock::Monotonic);
                let end = libc::syscall(libc::SYS_brk, 0usize) as usize;
                let is_grown = libc::syscall(libc::SYS_brk, end + length) as usize == end + length;
                if is_grown {
                    for at in (end..end + length).step_by(step.max(1)) {
                        std::ptr::with_exposed_provenance_mut::<u8>(at).write_volatile(1);
                    }
                    libc::syscall(libc::SYS_brk, end);
                    took.write_volatile((crate::now(crate::Clock::Monotonic) - start).0);
                }
                libc::_exit(if is_grown { 0 } else { 1 })
            }
            child => child,
        }
    };
    let child = rustix::process::Pid::from_raw(child).filter(|_| child > 0);
    let child = child.ok_or_else(|| SysError::last("fork", "a child that grows its heap"))?;
    let ended = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    match ended.ok().flatten().and_then(|(_, status)| status.exit_status()) {
        // SAFETY: the child has written it before its end, and only the parent has the mapping now.
        Some(0) => Ok(Ns(unsafe { took.read_volatile() })),
        _ => Err(SysError::new("brk", format!("{length} bytes"), libc::ENOMEM)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4096;

    #[test]
    fn pages_fault_when_they_are_first_written_and_not_when_they_are_populated() {
        std::thread::spawn(|| {
            let faults = || crate::thread_usage().map(|usage| usage.minor_faults).expect("usage");
            let of = |how| {
                let mut mapping = MappedMemory::anonymous(256 * PAGE, how).expect("memory");
                let before = faults();
                mapping.write(PAGE);
                faults() - before
            };
            assert!(of(Mapped::Lazily) >= 256);
            assert!(of(Mapped::Populated) < 128);
        })
        .join()
        .expect("thread");
    }

    #[test]
    fn memory_is_locked_and_unlocked() {
        let mapping = MappedMemory::anonymous(PAGE, Mapped::Lazily).expect("memory");
        mapping.lock().expect("a page is within the limit");
        mapping.unlock().expect("unlocked");
        mapping.read(PAGE);
        assert!(MappedMemory::anonymous(usize::MAX / 2, Mapped::Lazily).is_err());
    }

    #[test]
    fn the_heap_grows_in_a_child() {
        assert!(grow_heap(16 * PAGE, PAGE).expect("a heap") > Ns::ZERO);
    }
}
