//! A proof of kernel parameters, which count from the next boot on: one round in each boot, and the proof on the disk between them.
//!
//! ```text
//! begin ─> round in this boot ─> boot loader configured, or put back ─> reboot ─┐
//!   ^ record, store: what is known is on the disk before each of these steps    │
//!   └───────────────── the unit calls go_on, after each boot <──────────────────┘
//! decide: what comes next (pure)
//! ```

mod decide;
mod record;
mod rounds;
mod run;
mod store;
#[cfg(test)]
mod tests;

pub use record::{KeptChange, RebootPhase, RebootProof};
pub use rounds::KeptRound;
pub use run::{RebootOutcome, RebootRequest, abandon, begin, go_on, parameters_alone};
pub use store::RebootStore;
