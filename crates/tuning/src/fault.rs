//! Fault injection: tests interrupt an apply before and after each change on a disk or in the kernel. A whole program is
//! killed from outside (`whylate_sys::kill_at_change`). Only the feature `fault-injection` builds it; without the feature nothing is ever interrupted.

#[cfg(feature = "fault-injection")]
mod injector;

#[cfg(feature = "fault-injection")]
pub use injector::FaultInjector;

/// No faults.
#[cfg(not(feature = "fault-injection"))]
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultInjector;

#[cfg(not(feature = "fault-injection"))]
impl FaultInjector {
    pub(crate) fn none() -> FaultInjector {
        FaultInjector
    }

    pub(crate) fn check(&self) -> std::io::Result<()> {
        Ok(())
    }
}
