//! The packets of a trace: their fields, their sequences, and the way out.

use super::proto::Message;
use std::io::{self, Write};
use whylate_base::Ns;

/// `Trace.packet`
const PACKET: u32 = 1;
/// `TracePacket`
pub(super) mod packet {
    pub(in crate::perfetto) const FTRACE_EVENTS: u32 = 1;
    pub(in crate::perfetto) const CLOCK_SNAPSHOT: u32 = 6;
    pub(in crate::perfetto) const TIMESTAMP: u32 = 8;
    pub(in crate::perfetto) const SEQUENCE_ID: u32 = 10;
    pub(in crate::perfetto) const TRACK_EVENT: u32 = 11;
    pub(in crate::perfetto) const INTERNED_DATA: u32 = 12;
    pub(in crate::perfetto) const SEQUENCE_FLAGS: u32 = 13;
    pub(in crate::perfetto) const SYSTEM_INFO: u32 = 45;
    pub(in crate::perfetto) const DEFAULTS: u32 = 59;
    pub(in crate::perfetto) const TRACK_DESCRIPTOR: u32 = 60;
    pub(in crate::perfetto) const PERF_SAMPLE: u32 = 66;
}

/// `SEQ_INCREMENTAL_STATE_CLEARED`: what was interned before on this sequence is void.
pub(super) const STATE_CLEARED: u32 = 1;
/// `SEQ_NEEDS_INCREMENTAL_STATE`: the packet refers to what was interned.
pub(super) const NEEDS_STATE: u32 = 2;
/// The sequence of the ftrace bundles, that of our own tracks, and the first of those of samples.
pub(super) const FTRACE_SEQUENCE: u32 = 1;
pub(super) const TRACK_SEQUENCE: u32 = 2;
pub(super) const FIRST_SAMPLE_SEQUENCE: u32 = 3;

/// Timestamps are unsigned there; a due time may lie before the clock's origin.
pub(super) fn time(at: Ns) -> u64 {
    u64::try_from(at.0).unwrap_or(0)
}

/// The trace on its way out, packet by packet.
pub(super) struct Packets<'w> {
    pub(super) out: &'w mut dyn Write,
    message: Message,
}

impl<'w> Packets<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Packets<'w> {
        Packets { out, message: Message::new() }
    }

    /// Writes one packet.
    pub(super) fn write(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.message.clear();
        self.message.message(PACKET, fill);
        self.out.write_all(self.message.as_bytes())
    }
}
