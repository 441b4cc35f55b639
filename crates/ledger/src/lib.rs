//! Charges every nanosecond of every late activation to a named cause.
//!
//! ```text
//! events ──> timeline (who had each CPU, what each thread waited for)
//!        ──> activations (due, woken, running, done)
//!        ──> ledger (segments that tile due..done)
//!        ──> verdicts, findings
//! ```
//!
//! Pure: no I/O. A recorded trace and a live one are the same call.

pub mod cause;
pub mod model;

pub use cause::Cause;
pub use model::{
    Activation, Culprit, Explanation, Lane, Missing, Occupant, Segment, Slice, Spread, TaskSummary, Trigger,
    Verdict,
};
