//! Opens any trace file, told apart by content, and yields events.
//!
//! ```text
//!                 ┌─ gzip, zstd ──> unpack: told apart again by what is in it
//!                 ├─ 17 08 44 "tracing" ──> whylate_ftrace (trace.dat)
//! first bytes ────┼─ "PERFILE2" ──> perf (perf.data)
//!                 ├─ TracePacket after TracePacket ──> perfetto
//!                 ├─ a format known, not read ──> OpenError, with what to do
//!                 └─ anything else ──> text: event lines, headers, the rest counted
//! a directory ──> raw: ring-buffer pages copied out of tracefs
//! ```
//!
//! A file's name is never looked at: traces are renamed, pasted into mails and piped.

pub mod latencies;

mod clock_jumps;
mod error;
mod open;
mod perf;
mod perfetto;
mod raw;
mod seekable;
mod softirqs;
mod text;
mod unpack;
mod with_info;

pub use error::OpenError;
pub use open::{from_reader, open, open_stdin};
