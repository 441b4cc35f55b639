//! Opens any trace file, told apart by content, and yields events.
//!
//! ```text
//!                 ┌─ 17 08 44 "tracing" ──> whylate_ftrace (trace.dat)
//! first bytes ────┼─ a format known, not read ──> OpenError, with what to do
//!                 └─ anything else ──> text: event lines, headers, the rest counted
//! ```
//!
//! A file's name is never looked at: traces are renamed, pasted into mails and piped.

mod open;
mod text;

pub use open::{OpenError, from_reader, open, open_stdin};
