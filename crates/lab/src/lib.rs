//! Real Linux kernels in QEMU, without their hardware.
//!
//! ```text
//!  kernels    the kernels: Debian's, fetched and cached, or the user's own
//!  machine    a guest without a disk: kernel, CPUs, time
//!    initramfs  the files of its root: cpio, modules, libraries (elf)
//!  pair       two guests and the network between them (cable)
//!  disk       machines with a disk, a distribution on it, and reboots
//!  packages   a root with programs of Debian, made once and kept in the cache
//!  session    one boot of either: started, watched, ended, its results unpacked
//!    qemu       the process; console: its serial console
//!  arch       the architectures, and what differs between their machines
//!  guest      the guest's side: does the job, packs up the results
//!  job        the messages of host and guest; visit: the files and results of the host
//! ```
//!
//! The programs on top of it: `whylate lab` runs a user's program in a guest, and `whylate-lab` is the test rig.

mod arch;
mod cable;
mod companions;
mod console;
mod cpio;
pub mod disk;
mod elf;
mod error;
pub mod guest;
mod initramfs;
pub mod job;
pub mod kernels;
mod libraries;
pub mod machine;
mod made;
mod modules;
mod needed;
mod packages;
mod pair;
mod qemu;
mod scratch;
mod session;
mod time;
mod visit;

pub use arch::Arch;
pub use cable::CableEnd;
pub use companions::{Companions, companions, find_program};
pub use error::LabError;
pub use kernels::{Kernel, Store};
pub use libraries::check_program;
pub use machine::Machine;
pub use packages::PackageRoot;
pub use pair::{PairSide, run_pair};
pub use time::TimeSource;
pub use visit::{GuestFile, Visit, Visited};
