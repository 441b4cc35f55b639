//! `common_flags`, whose bits moved between kernels.
//!
//! | bit | meaning | kernels |
//! |---|---|---|
//! | 0x02 | interrupt state not known (`IRQS_NOSUPPORT`) | before 6.13, on architectures long gone |
//! | 0x02 | `NEED_RESCHED_LAZY` | 6.13 and later; 6.12 with the PREEMPT_RT patches |
//! | 0x20 | `NEED_RESCHED_LAZY`, in place of `PREEMPT_RESCHED` | PREEMPT_RT patches for 5.18 to 6.11 |
//! | 0x80 | `NEED_RESCHED_LAZY` | PREEMPT_RT patches before 5.18 |
//! | 0x80 | softirqs off (`BH_OFF`) | 5.18 and later |
//!
//! PREEMPT_RT kernels of those times show themselves by a field of their own, `common_preempt_lazy_count`.
//! Source: `enum trace_flag_type` in `include/linux/trace_events.h`, and the PREEMPT_RT patch queues.

use whylate_base::release_version;
use whylate_events::ContextFlags;

/// Where the bits are that not all kernels have in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlagLayout {
    lazy: u8,
    irqs_unknown: u8,
    /// Bits without a meaning.
    unused: u8,
}

const LATEST: FlagLayout = FlagLayout { lazy: 0x02, irqs_unknown: 0, unused: 0 };

impl FlagLayout {
    /// The layout of a kernel, by its release, and by whether its events count lazy preemption.
    pub(super) fn of(release: Option<&str>, counts_lazy: bool) -> FlagLayout {
        let version = release.and_then(release_version);
        let before = |limit: (u32, u32)| version.is_some_and(|version| version < limit);
        let bh_off = if before((5, 18)) { 0x80 } else { 0 };
        match (counts_lazy, before((6, 12))) {
            (true, _) if before((5, 18)) => FlagLayout { lazy: 0x80, irqs_unknown: 0x02, unused: 0 },
            (true, _) => FlagLayout { lazy: 0x20, irqs_unknown: 0x02, unused: 0 },
            (false, true) => FlagLayout { lazy: 0, irqs_unknown: 0x02, unused: bh_off },
            (false, false) => LATEST,
        }
    }

    #[inline]
    pub(super) fn read(self, raw: u8) -> ContextFlags {
        if self == LATEST {
            return ContextFlags(raw.into());
        }
        let plain = raw & !(self.lazy | self.irqs_unknown | self.unused);
        let flag = |bit: u8, flag: ContextFlags| if raw & bit != 0 { flag } else { ContextFlags(0) };
        ContextFlags(plain.into())
            | flag(self.lazy, ContextFlags::NEED_RESCHED_LAZY)
            | flag(self.irqs_unknown, ContextFlags::IRQS_UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernels_bits_find_their_meaning() {
        const IRQS_OFF: u16 = 0x01;
        const LAZY: u16 = 0x02;
        const RESCHED: u16 = 0x04;
        const PREEMPT: u16 = 0x20;
        const BH_OFF: u16 = 0x80;
        const UNKNOWN: u16 = 0x100;
        for (release, counts_lazy, raw, expected) in [
            (Some("7.2.13+deb14-amd64"), false, 0x07, IRQS_OFF | LAZY | RESCHED),
            (Some("6.12.107+deb13-rt-amd64"), false, 0x82, LAZY | BH_OFF),
            (None, false, 0x22, LAZY | PREEMPT),
            (Some("6.1.0-50-amd64"), false, 0x23, IRQS_OFF | PREEMPT | UNKNOWN),
            (Some("6.1.0-50-amd64"), false, 0x80, BH_OFF),
            (Some("6.1.0-50-rt-amd64"), true, 0x24, LAZY | RESCHED),
            (Some("6.1.0-50-rt-amd64"), true, 0x80, BH_OFF),
            (None, true, 0x21, IRQS_OFF | LAZY),
            (Some("5.10.1-rt20"), true, 0xa1, IRQS_OFF | PREEMPT | LAZY),
            (Some("4.19.0"), false, 0x85, IRQS_OFF | RESCHED),
            (Some("nonsense"), false, 0xff, 0xff),
        ] {
            let flags = FlagLayout::of(release, counts_lazy).read(raw);
            assert_eq!(flags, ContextFlags(expected), "{release:?} {counts_lazy} {raw:#x}");
        }
    }
}
