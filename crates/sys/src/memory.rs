//! Keeping the process's memory resident, or small.

use crate::SysError;
use rustix::mm::MlockAllFlags;

/// Which mappings are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// MCL_CURRENT: what is mapped now is made resident and stays so.
    Current,
    /// MCL_CURRENT | MCL_FUTURE: what will be mapped, too. Under a finite RLIMIT_MEMLOCK a
    /// later `mmap(2)`, and with it `malloc(3)` or a new thread, may then fail.
    CurrentAndFuture,
}

/// Locks the process's memory, faulting it in.
///
/// # Errors
/// `ENOMEM` or `EPERM` when RLIMIT_MEMLOCK is too low and CAP_IPC_LOCK is missing.
///
/// [`mlockall(2)`](https://man7.org/linux/man-pages/man2/mlockall.2.html)
pub fn mlockall(which: Lock) -> Result<(), SysError> {
    let (flags, tried) = match which {
        Lock::Current => (MlockAllFlags::CURRENT, "MCL_CURRENT"),
        Lock::CurrentAndFuture => {
            (MlockAllFlags::CURRENT | MlockAllFlags::FUTURE, "MCL_CURRENT | MCL_FUTURE")
        }
    };
    rustix::mm::mlockall(flags).map_err(|errno| SysError::new("mlockall", tried, errno.raw_os_error()))
}

/// Unlocks all memory of the process, whichever call locked it.
///
/// # Errors
/// None that `munlockall(2)` documents for a running process.
///
/// [`munlockall(2)`](https://man7.org/linux/man-pages/man2/munlockall.2.html)
pub fn munlockall() -> Result<(), SysError> {
    rustix::mm::munlockall().map_err(|errno| SysError::new("munlockall", "all memory", errno.raw_os_error()))
}

/// Gives free memory back to the kernel that lies between blocks in use
/// ([`malloc_trim(3)`](https://man7.org/linux/man-pages/man3/malloc_trim.3.html)): milliseconds for 100 MB. Only glibc keeps much.
pub fn return_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes a number, and locks the allocator itself.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Has blocks of memory of a megabyte and more go back to the kernel whenever they are freed
/// ([`mallopt(3)`](https://man7.org/linux/man-pages/man3/mallopt.3.html), M_MMAP_THRESHOLD).
///
/// glibc raises that size to that of each such block that is freed, up to 32 MiB, and then keeps them among small ones: a
/// process that runs for months grows. Other C libraries do not.
pub fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    {
        const LARGE: libc::c_int = 1 << 20;
        // SAFETY: it takes numbers, and locks the allocator itself.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }
}
