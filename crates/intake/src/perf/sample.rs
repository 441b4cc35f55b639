//! The fields of a sample, and those at the end of every other record (`perf_event_open(2)`,
//! "mmap layout").

use super::attr::{Attr, read_format, sample_type};
use std::ops::Range;
use whylate_ftrace::bytes::Endian;

/// What is needed of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
    /// Where in the record the tracepoint's own bytes are.
    pub(super) raw: Range<usize>,
}

/// Bytes of a record's header: kind, misc, size.
pub(super) const HEADER: usize = 8;

/// Where a sample's id is, which determines its layout: `None` where it has none.
/// perf sees to it that all events of a file have it at the same place.
pub(super) fn id_of_sample(endian: Endian, attr: &Attr, record: &[u8]) -> Option<u64> {
    use sample_type::{ADDR, ID, IDENTIFIER, IP, TID, TIME};
    let has = |bit: u64| attr.sample_type & bit != 0;
    if has(IDENTIFIER) {
        return endian.u64(record, HEADER);
    }
    let before = [IP, TID, TIME, ADDR].into_iter().filter(|&bit| has(bit)).count();
    has(ID).then(|| endian.u64(record, HEADER + 8 * before))?
}

/// Reads a sample; `None` where it ends before its fields do.
pub(super) fn parse(endian: Endian, attr: &Attr, record: &[u8]) -> Option<Sample> {
    use sample_type::*;
    let has = |bit: u64| attr.sample_type & bit != 0;
    let mut at = HEADER;
    let mut sample = Sample::default();
    at += 8 * [IDENTIFIER, IP, TID].into_iter().filter(|&bit| has(bit)).count();
    if has(TIME) {
        sample.time = Some(endian.u64(record, at)?);
        at += 8;
    }
    at += 8 * [ADDR, ID, STREAM_ID].into_iter().filter(|&bit| has(bit)).count();
    if has(CPU) {
        sample.cpu = Some(endian.u32(record, at)?);
        at += 8;
    }
    if has(PERIOD) {
        at += 8;
    }
    if has(READ) {
        at = at.checked_add(read_size(endian, attr.read_format, record, at)?)?;
    }
    if has(CALLCHAIN) {
        at = after_array(endian, record, at, 8)?;
    }
    if has(RAW) {
        let size = endian.u32(record, at)? as usize;
        let end = at.checked_add(4)?.checked_add(size).filter(|&end| end <= record.len())?;
        sample.raw = at + 4..end;
    }
    Some(sample)
}

/// Behind a count and that many elements of `size` bytes.
fn after_array(endian: Endian, record: &[u8], at: usize, size: usize) -> Option<usize> {
    let count = usize::try_from(endian.u64(record, at)?).ok()?;
    at.checked_add(8)?.checked_add(count.checked_mul(size)?).filter(|&end| end <= record.len())
}

/// The size of the counters' values in a sample.
fn read_size(endian: Endian, format: u64, record: &[u8], at: usize) -> Option<usize> {
    use read_format::*;
    let words = |bits: &[u64]| bits.iter().filter(|&&bit| format & bit != 0).count();
    let times = words(&[TIME_ENABLED, TIME_RUNNING]);
    let of_each = 1 + words(&[ID, LOST]);
    if format & GROUP == 0 {
        return Some(8 * (times + of_each));
    }
    let count = usize::try_from(endian.u64(record, at)?).ok().filter(|&count| count <= record.len())?;
    Some(8 * (1 + times + count * of_each))
}

/// The time, CPU and id at the end of a record that is not a sample (`sample_id_all`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
}

impl Trailer {
    /// Reads it backwards from the record's end; empty where the attr has none.
    pub(super) fn parse(endian: Endian, attr: &Attr, record: &[u8]) -> Trailer {
        use sample_type::*;
        let mut trailer = Trailer::default();
        if !attr.sample_id_all {
            return trailer;
        }
        let mut end = record.len();
        for bit in [IDENTIFIER, CPU, STREAM_ID, ID, TIME] {
            if attr.sample_type & bit == 0 {
                continue;
            }
            let Some(at) = end.checked_sub(8).filter(|&at| at >= HEADER) else { break };
            match bit {
                CPU => trailer.cpu = endian.u32(record, at),
                TIME => trailer.time = endian.u64(record, at),
                _ => {}
            }
            end = at;
        }
        trailer
    }

    /// Its size in bytes.
    pub(super) fn size(attr: &Attr) -> usize {
        use sample_type::*;
        let fields = [IDENTIFIER, CPU, STREAM_ID, ID, TIME, TID];
        let count = fields.into_iter().filter(|bit| attr.sample_type & bit != 0).count();
        if attr.sample_id_all { 8 * count } else { 0 }
    }
}
