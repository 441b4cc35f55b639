//! Opens trace files of any supported format, recognized by content, and yields events.
//!
//! ```text
//!                 ┌─ gzip, zstd ──> unpack: recognized again by its content
//!                 ├─ a tar ──> unpack: the trace.dat in it, as in a bundle
//!                 ├─ 17 08 44 "tracing" ──> whylate_ftrace (trace.dat)
//! first bytes ────┼─ "PERFILE2" ──> perf (perf.data)
//!                 ├─ TracePacket after TracePacket ──> perfetto
//!                 ├─ a format known, not supported ──> OpenError, with what to do
//!                 └─ anything else ──> text: event lines, headers, the rest counted
//! a directory ──> raw: ring-buffer pages copied out of tracefs
//! ```
//!
//! The name of a file is never used: traces are renamed, pasted into mails and piped.

pub mod bundle;
pub mod latencies;

mod clock_jumps;
mod ctf;
mod error;
mod kept;
mod open;
mod pasted;
mod perf;
mod perfetto;
mod raw;
mod read_ahead;
mod sched_latency;
mod seekable;
mod text;
mod unpack;
mod with_info;

pub use error::OpenError;
pub use kept::{KeptInput, from_reader_kept};
pub use open::{from_reader, open, open_stdin};
pub use text::KernelLog;
pub use with_info::WithInfo;
