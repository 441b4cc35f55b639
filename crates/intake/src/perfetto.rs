//! Perfetto traces: protobuf, of which the ftrace events are read, not a library of it needed.
//!
//! ```text
//! Trace ── packet ─┬─ ftrace_events: a bundle of one CPU ──> index: (sequence, CPU) -> places of bundles
//!                  ├─ compressed_packets: zlib ──> unpacked into a temporary file, indexed there
//!                  ├─ interned_data: names of the kernel's functions ──> symbols
//!                  └─ process_tree, system_info, ftrace_stats, trace_config
//! index ── a stream for each CPU, a bundle at a time ──> merged by time
//! ```
//! A first pass finds the bundles without reading them; so memory does not grow with the trace.
//! Numbers of fields are those of `protos/perfetto/trace/**.proto` in Perfetto's source.

mod bundle;
mod compact;
mod event;
mod generic;
mod index;
mod source;
mod state;
mod symbols;
mod wire;

pub(crate) use source::PerfettoSource;
pub(crate) use wire::begins;
