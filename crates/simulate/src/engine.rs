//! The discrete-event model: one instant after the other, it changes what each CPU and thread does, and traces that.
//!
//! ```text
//! clockwork ──> interrupts ──> jobs ──> locks, recorded   what happens at an instant
//!     └────────────> scheduler ──> placement           which thread a CPU runs
//!                        ├──> fair                     EEVDF
//!                        └──> bandwidth                throttling, deadline servers, reservations, quotas
//! all of them ──> state, trace, tally
//! ```

mod bandwidth;
mod clockwork;
mod event_buffer;
mod fair;
mod fair_entity;
mod interrupts;
mod jobs;
mod locks;
mod placement;
mod rank;
mod recorded;
mod scheduler;
mod state;
mod tally;
mod trace;

pub(crate) use state::Simulation;
pub use tally::Tally;
