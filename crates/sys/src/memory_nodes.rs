//! From which NUMA nodes a thread's memory comes.

use crate::SysError;
use libc::c_ulong;

/// `MPOL_BIND`, include/uapi/linux/mempolicy.h: from these nodes only.
const BIND: libc::c_int = 2;
const BITS: u32 = c_ulong::BITS;
/// The kernel has no more nodes (`MAX_NUMNODES` is at most 1024).
const WORDS: usize = 1024 / BITS as usize;

/// Has the memory of the calling thread, and of the programs and threads that it starts, come from these nodes only.
///
/// # Errors
/// `EINVAL`: a node does not exist, has no memory or is not in the cpuset; `ENOSYS`: a kernel without NUMA.
///
/// [`set_mempolicy(2)`](https://man7.org/linux/man-pages/man2/set_mempolicy.2.html)
pub fn bind_memory(nodes: &[u32]) -> Result<(), SysError> {
    let mut mask: [c_ulong; WORDS] = [0; WORDS];
    let tried = || format!("MPOL_BIND to nodes {nodes:?}");
    for &node in nodes {
        let word = mask.get_mut((node / BITS) as usize);
        *word.ok_or_else(|| SysError::new("set_mempolicy", tried(), libc::EINVAL))? |= 1 << (node % BITS);
    }
    let most = WORDS * BITS as usize + 1;
    // SAFETY: the kernel reads at most the given number of bits from `mask`, which lives through the call.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, BIND, mask.as_ptr(), most) };
    if result < 0 {
        return Err(SysError::last("set_mempolicy", tried()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_0_exists_and_node_1023_does_not() {
        let run = || {
            match bind_memory(&[0]) {
                Ok(()) => {}
                // A kernel without NUMA.
                Err(error) => assert_eq!(error.errno(), libc::ENOSYS),
            }
            assert!(bind_memory(&[1023]).is_err() && bind_memory(&[1024]).is_err());
        };
        std::thread::spawn(run).join().expect("thread");
    }
}
