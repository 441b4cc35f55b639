//! ftrace without trace-cmd: what the kernel's tracer writes, read and written directly.
//!
//! ```text
//! trace.dat v6/v7 ──> dat::TraceFile ─┐ per CPU: blocks of ring-buffer pages
//!                                     ├─> page ──> decode ──> merged whylate_events::Event
//! format files ─────> format ─────────┘ records   by event id
//! ```
//!
//! A damaged file is read as far as possible: what could not be read is listed as [`Damage`](events::Damage).
//! A parser never panics.
//!
//! The features `zstd` (the C library, default) and `ruzstd` (pure Rust) choose the Zstandard decoder. The typed events
//! are those of `whylate-events`, offered here as [`events`].

pub use whylate_events as events;

pub mod bytes;
pub mod dat;
pub mod decode;
pub mod encode;
pub mod format;
pub mod page;
pub mod print;
pub mod symbols;
pub mod tracefs;
