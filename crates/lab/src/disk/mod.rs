//! Machines with a disk: a distribution of its own, which a reboot or a power cut keeps.
//!
//! ```text
//!  recipe    the distributions, and their packages
//!  cache     images, each made once
//!    build     packages -> root -> a disk that the firmware boots; customize.sh runs in the root
//!  guest     one boot of a disk: its job and the resulting files; or a power cut
//! ```
//!
//! The firmware starts GRUB, and GRUB reads `/boot/grub/grub.cfg` of the disk: nothing of a boot is given to
//! QEMU. So a kernel parameter takes effect only if the distribution's own tools have written it there.

mod build;
mod cache;
mod guest;
mod recipe;

pub use crate::session::Booted;
pub use guest::Guest;
pub use recipe::Image;
