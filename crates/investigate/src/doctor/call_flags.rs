//! Flags in arguments of system calls that several modules read.

/// Memory of no file (`include/uapi/asm-generic/mman-common.h`).
pub(super) const MAP_ANONYMOUS: u64 = 0x20;
/// The stack of a thread (`include/uapi/asm-generic/mman.h`).
pub(super) const MAP_STACK: u64 = 0x2_0000;
/// The time is an instant (clock_nanosleep(2)).
pub(super) const TIMER_ABSTIME: u64 = 1;
