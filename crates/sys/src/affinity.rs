//! The CPUs that a thread may use, without glibc's limit of 1024 CPUs.

use crate::SysError;
use crate::thread::describe;
use libc::c_ulong;
use whylate_base::{Cpu, CpuSet, Tid};

/// The kernel's own limit is 8192 CPUs (`NR_CPUS`), so one mask fits every machine.
const WORDS: usize = 8192 / BITS;
const BITS: usize = c_ulong::BITS as usize;

type Mask = [c_ulong; WORDS];

/// The CPUs on which thread `tid` may run: its affinity within its cpuset. `Tid(0)` is the
/// calling thread.
///
/// # Errors
/// `ESRCH` when the thread is gone.
///
/// [`sched_getaffinity(2)`](https://man7.org/linux/man-pages/man2/sched_getaffinity.2.html)
pub fn getaffinity(tid: Tid) -> Result<CpuSet, SysError> {
    let mut mask: Mask = [0; WORDS];
    // SAFETY: the kernel writes at most the given size into `mask`, which lives through the call.
    let written =
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, tid.0, size_of::<Mask>(), mask.as_mut_ptr()) };
    if written < 0 {
        return Err(SysError::last("sched_getaffinity", describe(tid)));
    }
    Ok(from_mask(&mask))
}

/// Binds thread `tid` to `cpus`. `Tid(0)` is the calling thread. The kernel narrows the set
/// to the thread's cpuset.
///
/// # Errors
/// `EINVAL` when no CPU of the set is online and in the cpuset, or the set is empty;
/// `EPERM` for another user's thread; `ESRCH` when the thread is gone.
///
/// [`sched_setaffinity(2)`](https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html)
pub fn setaffinity(tid: Tid, cpus: &CpuSet) -> Result<(), SysError> {
    let mask = to_mask(cpus);
    // SAFETY: the kernel reads the given size from `mask`, which lives through the call.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid.0, size_of::<Mask>(), mask.as_ptr()) };
    if result < 0 {
        return Err(SysError::last("sched_setaffinity", format!("CPUs {cpus} for {}", describe(tid))));
    }
    Ok(())
}

fn to_mask(cpus: &CpuSet) -> Mask {
    let mut mask: Mask = [0; WORDS];
    for cpu in cpus.iter() {
        if let Some(word) = mask.get_mut(cpu.index() / BITS) {
            *word |= 1 << (cpu.index() % BITS);
        }
    }
    mask
}

fn from_mask(mask: &Mask) -> CpuSet {
    (0..WORDS * BITS)
        .filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1)
        .map(|cpu| Cpu(cpu as u32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_hold_any_cpu_the_kernel_can_have() {
        for list in ["0", "63-64", "1023-1025,8191", ""] {
            let set: CpuSet = list.parse().expect(list);
            assert_eq!(from_mask(&to_mask(&set)), set);
        }
    }

    #[test]
    fn a_thread_can_be_bound_and_released() {
        std::thread::spawn(|| {
            let allowed = getaffinity(Tid(0)).expect("own affinity");
            let last = allowed.iter().last().expect("a CPU");
            let one = CpuSet::from_iter([last]);
            setaffinity(Tid(0), &one).expect("own CPU");
            assert_eq!(getaffinity(Tid(0)).expect("own affinity"), one);
            setaffinity(Tid(0), &allowed).expect("back");
            assert_eq!(getaffinity(Tid(0)).expect("own affinity"), allowed);
        })
        .join()
        .expect("thread");
    }

    #[test]
    fn no_such_cpu_is_refused_with_a_hint() {
        let error = setaffinity(Tid(0), &CpuSet::from_iter([Cpu(8191)])).expect_err("CPU 8191");
        assert!(error.hint().expect("known").contains("cpuset"));
        assert!(error.to_string().contains("8191"), "{error}");
    }
}
