//! A tracing session of our own in the kernel's tracefs, that leaves no trace of itself.
//!
//! ```text
//! Tracefs  (found in mountinfo, or mounted for this process only)
//!   └─ Instance  instances/whylate-PID-START-N: own buffers, clock, events, pid filter
//!        ├─ PageReader  per_cpu/cpuN/trace_pipe_raw, one sub-buffer page at a time
//!        └─ CpuStats    per_cpu/cpuN/stats: events, and events lost
//!   └─ ProbeEvent  an event of our own, where a kernel lacks one; its name too has PID and START
//! ```
//!
//! A recording writes only its instance's own files, and adds a probe at most: the top level, which other tools share, stays as it was, and
//! `current_tracer` and `ftrace_enabled` are not needed. A caller that needs them ([`Instance::set_tracer`], [`Tracefs::write`])
//! has to put back what it found. See the kernel's `Documentation/trace/ftrace.rst`, section "Instances".

mod describe;
mod error;
mod instance;
mod mount;
mod name;
mod pages;
mod probe;
mod stale;
mod stats;
mod text;

pub use error::TracefsError;
pub use instance::{Instance, OnFull};
pub use mount::Tracefs;
pub use name::{fresh_name, is_stale};
pub use pages::{PageKind, PageReader, wait_for_pages};
pub use probe::{ACTIVATION_BEGIN, ACTIVATION_END, PAGE_FAULT, PROBE_GROUP, ProbeEvent};
pub use stale::remove_stale;
pub use stats::CpuStats;
