//! Real Linux kernels in QEMU, without their hardware.
//!
//! ```text
//!  kernels    which kernels there are: Debian's, fetched and cached, or the user's own
//!  machine    a guest without a disk: kernel, CPUs, time
//!    initramfs  what it finds in its root: cpio, modules, libraries (elf)
//!  disk       machines with a disk, a distribution on it, and reboots
//!  session    one boot of either: started, watched, ended, its results unpacked
//!    qemu       the process; console: what it shows
//!  guest      this same program as the guest's init: does the job, packs up the results
//!  state      everything tuning may change on a machine, and what differs between two moments
//!  tuning     applied, rebooted, verified, rolled back, killed in the middle: is all as it was?
//!  job        what the two tell each other
//!  scenario   a fault as data: what runs, where, and what the answer must be
//!  judge      the injector's label beside our explanation: right, wrong, or unexplained?
//!  matrix     scenarios x kernels x seeds
//!  score      sums over all of these
//! ```

mod console;
mod cpio;
pub mod disk;
mod elf;
mod error;
pub mod guest;
mod initramfs;
pub mod job;
pub mod judge;
pub mod kernels;
pub mod label;
mod libraries;
pub mod machine;
pub mod matrix;
mod modules;
mod qemu;
pub mod scenario;
pub mod score;
mod session;
pub mod state;
pub mod tuning;

pub use error::LabError;
pub use kernels::{Kernel, Store};
pub use libraries::check_program;
pub use machine::{GuestFile, Machine, Visit, Visited};
