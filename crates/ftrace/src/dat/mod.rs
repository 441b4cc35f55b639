//! trace.dat files, the recordings of `trace-cmd record` and of this project.
//!
//! ```text
//! v6/v7 container ──> formats, clock, symbols      (read once, when opened)
//!       │
//!       └─> per CPU: blocks ──> pages ──> records ──> events ──> merged by time
//! ```
//!
//! The container is described in `trace-cmd.dat.v6(5)` and `trace-cmd.dat.v7(5)`.

pub mod write;

mod blocks;
mod buffer;
mod compress;
mod container;
mod cpu;
mod cpu_events;
mod decode_pool;
mod describe;
mod error;
mod events;
mod extent;
mod file;
mod head;
mod input;
mod latency_reader;
mod latency_text;
mod lost_index;
mod merge;
mod merger;
mod options;
mod page_formats;
mod raw;
mod raw_dump;
mod read_at;
mod record_merger;
mod salvage;
mod session;
mod stacks;
mod time;
mod tournament;
mod tracing_data;
mod v6;
mod v7;
#[cfg(feature = "zstd")]
mod zstd_c;
#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
mod zstd_rust;

pub use buffer::{Buffer, CpuData, RawBuffer};
pub use compress::Compression;
pub use cpu_events::CpuEvents;
pub use error::DatError;
pub use events::TraceEvents;
pub use file::TraceFile;
pub use latency_text::LatencyText;
pub use page_formats::PageFormats;
pub use raw::{LostAtEnd, RawEvent, RawEvents};
pub use raw_dump::RawDump;
pub use read_at::ReadAt;
pub use session::{Guest, Session};
pub use tracing_data::TracingData;

#[cfg(feature = "zstd")]
use zstd_c as zstd_codec;
#[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
use zstd_rust as zstd_codec;

#[cfg(not(any(feature = "zstd", feature = "ruzstd")))]
compile_error!("whylate-ftrace needs one of the features `zstd` and `ruzstd`");
