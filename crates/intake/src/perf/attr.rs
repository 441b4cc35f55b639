//! What was recorded and how its samples are laid out: `perf_event_attr` (`perf_event_open(2)`).

use whylate_ftrace::bytes::Endian;

/// `PERF_TYPE_TRACEPOINT`: its config is the event's id.
const TRACEPOINT: u32 = 2;
/// The first version's size, which every later one begins with (`PERF_ATTR_SIZE_VER0`).
const SHORTEST: usize = 64;

/// Bits of `sample_type` (`enum perf_event_sample_format`).
pub(super) mod sample_type {
    pub(in crate::perf) const IP: u64 = 1;
    pub(in crate::perf) const TID: u64 = 1 << 1;
    pub(in crate::perf) const TIME: u64 = 1 << 2;
    pub(in crate::perf) const ADDR: u64 = 1 << 3;
    pub(in crate::perf) const READ: u64 = 1 << 4;
    pub(in crate::perf) const CALLCHAIN: u64 = 1 << 5;
    pub(in crate::perf) const ID: u64 = 1 << 6;
    pub(in crate::perf) const CPU: u64 = 1 << 7;
    pub(in crate::perf) const PERIOD: u64 = 1 << 8;
    pub(in crate::perf) const STREAM_ID: u64 = 1 << 9;
    pub(in crate::perf) const RAW: u64 = 1 << 10;
    pub(in crate::perf) const IDENTIFIER: u64 = 1 << 16;
}

/// Bits of `read_format` (`enum perf_event_read_format`).
pub(super) mod read_format {
    pub(in crate::perf) const TIME_ENABLED: u64 = 1;
    pub(in crate::perf) const TIME_RUNNING: u64 = 1 << 1;
    pub(in crate::perf) const ID: u64 = 1 << 2;
    pub(in crate::perf) const GROUP: u64 = 1 << 3;
    pub(in crate::perf) const LOST: u64 = 1 << 4;
}

/// Bits of the flags behind `read_format`.
const SAMPLE_ID_ALL: u32 = 18;
const USE_CLOCKID: u32 = 25;

/// One event that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attr {
    kind: u32,
    config: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    /// Records other than samples end with their time, CPU and id.
    pub(super) sample_id_all: bool,
    /// The POSIX clock that samples are stamped with; `None`: the scheduler's own.
    clock: Option<i32>,
}

impl Attr {
    /// Reads an attr; also gives its size. `None` where it is cut or its size makes no sense.
    pub(super) fn parse(endian: Endian, bytes: &[u8]) -> Option<(Attr, usize)> {
        let size = match endian.u32(bytes, 4)? as usize {
            0 => SHORTEST,
            size => size,
        };
        if size < SHORTEST || size > bytes.len() {
            return None;
        }
        let flags = endian.u64(bytes, 40)?;
        // Bit fields lie from the other end on a big-endian machine.
        let flag = |bit: u32| match endian {
            Endian::Little => flags >> bit & 1 == 1,
            Endian::Big => flags >> (63 - bit) & 1 == 1,
        };
        let clock = flag(USE_CLOCKID).then(|| endian.u32(bytes, 92)).flatten().filter(|_| size >= 96);
        let attr = Attr {
            kind: endian.u32(bytes, 0)?,
            config: endian.u64(bytes, 8)?,
            sample_type: endian.u64(bytes, 24)?,
            read_format: endian.u64(bytes, 32)?,
            sample_id_all: flag(SAMPLE_ID_ALL),
            clock: clock.map(|clock| clock as i32),
        };
        Some((attr, size))
    }

    /// The tracepoint's id, if it is a tracepoint whose records are kept.
    pub(super) fn tracepoint(&self) -> Option<u16> {
        let recorded = self.kind == TRACEPOINT && self.sample_type & sample_type::RAW != 0;
        recorded.then(|| u16::try_from(self.config).ok()).flatten()
    }

    /// The clock, as ftrace names it: perf's own is what the trace clock `perf` reads.
    pub(super) fn clock_name(&self) -> Option<&'static str> {
        Some(match self.clock {
            None => "perf",
            Some(0) => "realtime",
            Some(1) => "mono",
            Some(4) => "mono_raw",
            Some(7) => "boot",
            Some(11) => "tai",
            Some(_) => return None,
        })
    }
}
