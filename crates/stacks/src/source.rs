//! What makes the kernel take a sample of a followed thread.

use crate::record::Sample;
use whylate_base::{Ns, Tid};
use whylate_events::SampleKind;
use whylate_sys::PerfCounter;

/// A tracepoint, and the one of its members that a sample keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledTracepoint {
    /// The number in its `events/GROUP/NAME/id`.
    pub id: u64,
    /// The member's offset and size in bytes, by its `format`; 4 or 8 bytes.
    pub member: (usize, usize),
    /// Which of its events count, in ftrace's filter language; `None` counts all.
    pub filter: Option<String>,
}

impl SampledTracepoint {
    /// The member of an event, with its sign; `None` where the event is too short.
    fn value(&self, raw: &[u8]) -> Option<i64> {
        let (offset, size) = self.member;
        let bytes = raw.get(offset..offset.checked_add(size)?)?;
        match size {
            4 => bytes.try_into().ok().map(i32::from_ne_bytes).map(i64::from),
            8 => bytes.try_into().ok().map(i64::from_ne_bytes),
            _ => None,
        }
    }
}

/// One reason for samples.
#[derive(Clone, Debug)]
pub(crate) enum SampleSource {
    CpuClock(Ns),
    SwitchOut,
    MinorFault,
    MajorFault,
    /// The number of its tracepoint.
    Timer(u64),
    Wake(SampledTracepoint),
    Syscall(SampledTracepoint),
}

impl SampleSource {
    pub(crate) fn counter(&self) -> PerfCounter {
        match self {
            SampleSource::CpuClock(_) => PerfCounter::CpuClock,
            SampleSource::SwitchOut => PerfCounter::ContextSwitches,
            SampleSource::MinorFault => PerfCounter::MinorFaults,
            SampleSource::MajorFault => PerfCounter::MajorFaults,
            &SampleSource::Timer(id) => PerfCounter::Tracepoint(id),
            SampleSource::Wake(tracepoint) | SampleSource::Syscall(tracepoint) => {
                PerfCounter::Tracepoint(tracepoint.id)
            }
        }
    }

    /// How many counts a sample stands for. The kernel's frequency mode would bound the samples of a thread that switches
    /// very often; but two quick switches of a slow thread make it leave out the next ones as well
    /// (`perf_adjust_period()`, kernel/events/core.c), and those are the places where that thread blocks.
    pub(crate) fn period(&self) -> u64 {
        match self {
            SampleSource::CpuClock(period) => u64::try_from(period.0).unwrap_or(1).max(1),
            _ => 1,
        }
    }

    /// Whether a sample has the kernel's functions as well. Those of a system call and of a wake-up in one show nothing that
    /// the event does not, and take the longest part of a sample: a microsecond or more of the calling thread.
    pub(crate) fn has_kernel_stack(&self) -> bool {
        !matches!(self, SampleSource::Wake(_) | SampleSource::Syscall(_))
    }

    pub(crate) fn filter(&self) -> Option<&str> {
        match self {
            SampleSource::Wake(tracepoint) | SampleSource::Syscall(tracepoint) => {
                tracepoint.filter.as_deref()
            }
            _ => None,
        }
    }

    /// What a sample of this source shows.
    pub(crate) fn kind(&self, sample: &Sample<'_>) -> Option<SampleKind> {
        let address = sample.address;
        Some(match self {
            SampleSource::CpuClock(_) => SampleKind::CpuClock,
            SampleSource::SwitchOut => SampleKind::SwitchOut,
            SampleSource::Timer(_) => SampleKind::Timer,
            SampleSource::MinorFault => SampleKind::MinorFault { address },
            SampleSource::MajorFault => SampleKind::MajorFault { address },
            SampleSource::Wake(tracepoint) => {
                SampleKind::Wake { woken: Tid(tracepoint.value(sample.raw)?.try_into().ok()?) }
            }
            SampleSource::Syscall(tracepoint) => {
                SampleKind::Syscall { number: tracepoint.value(sample.raw)? }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_asks_of_the_kernel_has_no_kernel_stack() {
        let tracepoint = SampledTracepoint { id: 1, member: (8, 4), filter: None };
        for (source, expected) in [
            (SampleSource::CpuClock(Ns::from_ms(1)), true),
            (SampleSource::SwitchOut, true),
            (SampleSource::MajorFault, true),
            (SampleSource::Timer(1), true),
            (SampleSource::Wake(tracepoint.clone()), false),
            (SampleSource::Syscall(tracepoint), false),
        ] {
            assert_eq!(source.has_kernel_stack(), expected, "{source:?}");
        }
    }

    #[test]
    fn a_tracepoints_member_is_read_at_its_place() {
        let tracepoint = |member| SampledTracepoint { id: 1, member, filter: None };
        let raw = [&[0xff; 8][..], &(-7i32).to_ne_bytes(), &5i32.to_ne_bytes()].concat();
        assert_eq!(tracepoint((8, 4)).value(&raw), Some(-7));
        assert_eq!(tracepoint((0, 8)).value(&raw), Some(-1));
        for member in [(13, 4), (8, 3), (usize::MAX, 4)] {
            assert_eq!(tracepoint(member).value(&raw), None, "{member:?}");
        }
    }
}
