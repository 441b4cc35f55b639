//! Event streams written by hand: a scene is played, and explained.
//!
//! ```text
//! Scene::new().cpu(1).at(0).run(HOG).at(100).timer_wakes(VICTIM).at(431).sleep(VICTIM).explain("victim")
//! ```
//!
//! Times are microseconds. A scene knows which thread is current on each CPU and which interrupts are on
//! top, so that every event gets the context that the kernel would give it.

mod explained;
mod interrupts;
mod recording;
mod scene;
mod scheduling;
mod syscalls;

pub(crate) use explained::{Explained, assert_blames, assert_charges, charged_to};
pub(crate) use scene::{IDLE, Scene, Thread, deadline, fair, rt};
pub(crate) use syscalls::sys;

/// A millisecond in the scene's unit.
pub(crate) const MS: i64 = 1_000;
