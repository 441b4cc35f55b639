//! The kernel's version, and what it decides: how real-time threads are kept from taking a whole CPU.

use std::fmt;
use std::str::FromStr;

/// Major and minor version of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelSeries {
    /// 6 of 6.12.
    pub major: u32,
    /// 12 of 6.12.
    pub minor: u32,
}

/// How a kernel keeps real-time threads from taking a whole CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bandwidth {
    /// Until 5.9: throttling, but a CPU borrows runtime from others (the scheduler feature RT_RUNTIME_SHARE).
    ThrottleShared,
    /// From 5.10 to 6.11, and later with CONFIG_RT_GROUP_SCHED: throttling of each CPU on its own.
    Throttle,
    /// From 6.12: a deadline server runs SCHED_OTHER threads that starve.
    FairServer,
    /// Both: from 6.12 with CONFIG_RT_GROUP_SCHED.
    ThrottleAndFairServer,
}

impl Bandwidth {
    /// True where a CPU's real-time threads may be throttled.
    pub fn throttles(self) -> bool {
        self != Bandwidth::FairServer
    }

    /// True where a deadline server serves SCHED_OTHER threads.
    pub fn serves(self) -> bool {
        matches!(self, Bandwidth::FairServer | Bandwidth::ThrottleAndFairServer)
    }
}

impl KernelSeries {
    /// A version.
    pub const fn new(major: u32, minor: u32) -> KernelSeries {
        KernelSeries { major, minor }
    }

    /// What it does (`kernel/sched/rt.c`, `kernel/sched/deadline.c`, `kernel/sched/features.h`).
    pub fn bandwidth(self, rt_group_sched: bool) -> Bandwidth {
        match self {
            version if version < KernelSeries::new(5, 10) => Bandwidth::ThrottleShared,
            version if version < KernelSeries::new(6, 12) => Bandwidth::Throttle,
            _ if rt_group_sched => Bandwidth::ThrottleAndFairServer,
            _ => Bandwidth::FairServer,
        }
    }
}

impl fmt::Display for KernelSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The error for text that is no kernel version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSeriesError(String);

impl fmt::Display for KernelSeriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a kernel version: write it like 6.12", self.0)
    }
}

impl std::error::Error for KernelSeriesError {}

/// From a version or a release: `6.12`, `6.1.0-18-rt-amd64`.
impl FromStr for KernelSeries {
    type Err = KernelSeriesError;

    fn from_str(text: &str) -> Result<Self, KernelSeriesError> {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(major), Some(minor)) => Ok(KernelSeries { major, minor }),
            _ => Err(KernelSeriesError(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_decides_the_mechanism() {
        for (version, group, bandwidth) in [
            ("5.4.140-rt64", false, Bandwidth::ThrottleShared),
            ("5.10", false, Bandwidth::Throttle),
            ("6.1.0-18-amd64", false, Bandwidth::Throttle),
            ("6.11", true, Bandwidth::Throttle),
            ("6.12", false, Bandwidth::FairServer),
            ("7.2", true, Bandwidth::ThrottleAndFairServer),
        ] {
            let kernel: KernelSeries = version.parse().expect(version);
            assert_eq!(kernel.bandwidth(group), bandwidth, "{version}");
        }
        for wrong in ["", "six", "6", "6.x"] {
            assert!(wrong.parse::<KernelSeries>().is_err(), "{wrong}");
        }
    }
}
