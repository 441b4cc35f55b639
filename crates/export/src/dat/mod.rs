//! trace.dat version 7, which trace-cmd (3.0 and later) and KernelShark open.
//!
//! ```text
//! a trace.dat ── copy ──> its records as they are, with its formats, names and buffers ─┐
//!                                                                                       ├─> Spool ──> file
//! any other   ── write ─> typed events, encoded with formats of our own ────────────────┘
//! ```
//!
//! The kernel's pages are packed anew, as a cut takes events out of them.

mod copy;
mod spool;
mod typed;

pub use copy::{can_copy, copy};
pub use typed::write;
