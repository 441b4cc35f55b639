//! Moves the controlling thread to the housekeeping CPUs: those that are not measured, where there are any.

use whylate_base::{CpuSet, Tid};

/// Gives the calling thread its old affinity back when dropped, on the same thread.
pub(super) struct Housekeeping {
    before: CpuSet,
}

impl Housekeeping {
    /// Confines the calling thread to the CPUs that are allowed and not measured. `None`
    /// when there is none, or the kernel refuses: then it stays where it is.
    pub(super) fn new(measured: &CpuSet) -> Option<Self> {
        let before = whylate_sys::getaffinity(Tid(0)).ok()?;
        let rest: CpuSet = before.iter().filter(|&cpu| !measured.contains(cpu)).collect();
        if rest.is_empty() {
            return None;
        }
        whylate_sys::setaffinity(Tid(0), &rest).ok()?;
        Some(Housekeeping { before })
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        // It was allowed when the thread started; a cpuset changed since then overrules it.
        let _ = whylate_sys::setaffinity(Tid(0), &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_affinity_comes_back() {
        std::thread::spawn(|| {
            let before = whylate_sys::getaffinity(Tid(0)).expect("affinity");
            let measured: CpuSet = before.iter().take(1).collect();
            let moved = Housekeeping::new(&measured);
            let during = whylate_sys::getaffinity(Tid(0)).expect("affinity");
            assert_eq!(moved.is_some(), before.len() > 1);
            assert_eq!(during.iter().any(|cpu| measured.contains(cpu)), moved.is_none());
            drop(moved);
            assert_eq!(whylate_sys::getaffinity(Tid(0)).expect("affinity"), before);
            assert!(Housekeeping::new(&before).is_none(), "no CPU is left");
        })
        .join()
        .expect("thread");
    }
}
