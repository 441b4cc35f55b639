//! perf.data with tracepoints: `perf record -e sched:...`, `perf sched record`, as file or from a pipe.
//!
//! ```text
//! header ─> events (attr), formats ──────────────┐
//! records ─┬─ SAMPLE: raw bytes of a tracepoint ─┴─> whylate_ftrace's decoders ─> order ─> events
//!          ├─ COMPRESSED: more records
//!          ├─ LOST ─> EventKind::Lost        COMM, FORK ─> names of threads
//!          └─ FINISHED_ROUND: how far the order is settled
//! ```
//! A tracepoint's bytes in a sample are those that ftrace has in its ring buffer.

mod attr;
mod header;
mod inflate;
mod order;
mod record_header;
mod records;
mod sample;
mod source;

pub(crate) use header::{MAGIC, MAGIC_BIG};
pub(crate) use source::PerfSource;
