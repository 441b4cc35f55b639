//! Joins a probe, a recording and the ledger.
//!
//! ```text
//! record:   tracing session ──> trace.dat
//! measure:  timer probe + flight recorder ──> ledger ──> distribution, with its worst wake-ups explained
//! ```

pub mod flight;
pub mod measure;
pub mod record;
