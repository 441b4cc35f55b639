//! Resource usage of the calling thread.

use crate::SysError;
use whylate_base::Ns;

/// Counters of one thread since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Ns,
    /// CPU time in the kernel.
    pub system: Ns,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Voluntary context switches: the thread went to sleep.
    pub voluntary_switches: u64,
    /// Involuntary context switches: the thread was preempted.
    pub involuntary_switches: u64,
}

/// The calling thread's counters (RUSAGE_THREAD).
///
/// # Errors
/// None that `getrusage(2)` documents for these arguments.
///
/// [`getrusage(2)`](https://man7.org/linux/man-pages/man2/getrusage.2.html)
pub fn thread_usage() -> Result<Usage, SysError> {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `raw` has room for the structure that the call writes.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, raw.as_mut_ptr()) };
    if result < 0 {
        return Err(SysError::last("getrusage", "RUSAGE_THREAD"));
    }
    // SAFETY: all-zero bytes are a valid `rusage` (integers only), and the call has filled it in.
    let raw = unsafe { raw.assume_init() };
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    // Both are 32 bits wide in most 32-bit programs.
    #[allow(clippy::useless_conversion, reason = "not on 32-bit machines")]
    let time = |value: libc::timeval| Ns::from_secs(value.tv_sec.into()) + Ns::from_us(value.tv_usec.into());
    Ok(Usage {
        user: time(raw.ru_utime),
        system: time(raw.ru_stime),
        minor_faults: count(raw.ru_minflt),
        major_faults: count(raw.ru_majflt),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
    })
}

/// The CPU time that the calling thread has used, to the nanosecond.
///
/// [`clock_gettime(2)`](https://man7.org/linux/man-pages/man2/clock_gettime.2.html), CLOCK_THREAD_CPUTIME_ID
pub fn thread_cpu_time() -> Ns {
    crate::clock::to_ns(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_fresh_memory_is_counted_as_faults() {
        let before = thread_usage().expect("usage");
        // 8 MiB comes from a fresh mapping, larger than malloc's arenas keep.
        let mut fresh = vec![0u8; 8 << 20];
        for page in fresh.chunks_mut(4096) {
            page[0] = 1;
        }
        std::hint::black_box(&fresh);
        let after = thread_usage().expect("usage");
        assert!(after.minor_faults + after.major_faults > before.minor_faults + before.major_faults);
    }
}
