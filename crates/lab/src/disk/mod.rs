//! Machines with a disk: a distribution of its own, which is still there after a reboot or a power cut.
//!
//! ```text
//!  recipe    which distributions there are, and what they are made of
//!  cache     images, each made once
//!    build     packages -> root -> a disk that the firmware boots; customize.sh is what is done in the root
//!  guest     one boot of a disk: its job done, its files brought back; or its power cut
//! ```
//!
//! The firmware starts GRUB, and GRUB what `/boot/grub/grub.cfg` of the disk says: nothing of a boot is given to
//! QEMU. So a kernel parameter counts only if the distribution's own tools have put it there.

mod build;
mod cache;
mod guest;
mod recipe;

pub use crate::session::Booted;
pub use guest::Guest;
pub use recipe::Image;
