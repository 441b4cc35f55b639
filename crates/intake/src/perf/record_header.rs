//! The header of a record in a perf.data: its kind and its size.

use super::sample::HEADER;
use whylate_ftrace::bytes::Endian;

/// Kinds of records (`enum perf_event_type`, `enum perf_user_event_type`).
pub(super) mod kind {
    pub(in crate::perf) const LOST: u32 = 2;
    pub(in crate::perf) const COMM: u32 = 3;
    pub(in crate::perf) const FORK: u32 = 7;
    pub(in crate::perf) const SAMPLE: u32 = 9;
    pub(in crate::perf) const LOST_SAMPLES: u32 = 13;
    pub(in crate::perf) const HEADER_ATTR: u32 = 64;
    pub(in crate::perf) const HEADER_TRACING_DATA: u32 = 66;
    pub(in crate::perf) const FINISHED_ROUND: u32 = 68;
    pub(in crate::perf) const AUXTRACE: u32 = 71;
    pub(in crate::perf) const HEADER_FEATURE: u32 = 80;
    pub(in crate::perf) const COMPRESSED: u32 = 81;
    pub(in crate::perf) const COMPRESSED2: u32 = 83;
}

/// Kind and size of a record, where the header makes sense.
pub(super) fn plausible(endian: Endian, bytes: &[u8]) -> Option<(u32, usize)> {
    let (kind, size) = (endian.u32(bytes, 0)?, endian.u16(bytes, 6)?);
    // Kinds are added with time: leave room. Misc has no bits in its middle.
    let known = matches!(kind, 1..=40 | 64..=120);
    (known && usize::from(size) >= HEADER).then_some((kind, usize::from(size)))
}
