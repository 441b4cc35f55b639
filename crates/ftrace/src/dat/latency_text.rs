//! The text that a trace.dat holds in place of events when it was recorded with a latency tracer
//! (`trace-cmd record -p wakeup_rt`): the content of tracefs' `trace` file at the end.

use super::compress::Compression;
use std::fmt;

/// A latency tracer's text out of a trace.dat.
#[derive(Clone, PartialEq, Eq)]
pub struct LatencyText(pub Vec<u8>);

impl fmt::Debug for LatencyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LatencyText({} bytes)", self.0.len())
    }
}

/// Where the text is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextAt {
    pub(super) at: u64,
    /// 0 where it goes on to the end of the file.
    pub(super) size: u64,
    pub(super) compression: Compression,
}
