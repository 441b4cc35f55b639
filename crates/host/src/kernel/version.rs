//! Which kernel it is, and how it may be preempted.

use std::fmt;
use std::str::FromStr;

/// The first two numbers of a release; behaviour changes with those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion {
    /// 6 of 6.12.
    pub major: u16,
    /// 12 of 6.12.
    pub minor: u16,
}

impl KernelVersion {
    /// `KernelVersion::new(6, 12)`.
    pub const fn new(major: u16, minor: u16) -> Self {
        KernelVersion { major, minor }
    }
}

impl FromStr for KernelVersion {
    type Err = ();

    fn from_str(release: &str) -> Result<Self, ()> {
        let mut numbers = release.split('.').map(|part| {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..digits].parse::<u16>().map_err(drop)
        });
        let mut next = || numbers.next().unwrap_or(Err(()));
        Ok(KernelVersion::new(next()?, next()?))
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// How the kernel may be preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preempt {
    /// PREEMPT_RT: nearly everywhere, spinlocks sleep, interrupt handlers are threads.
    Realtime,
    /// `full`: wherever no spinlock is held.
    Full,
    /// `lazy` (6.13): real-time threads as with `full`; SCHED_OTHER ones at the next tick.
    Lazy,
    /// `voluntary`: at explicit points.
    Voluntary,
    /// `none`: on the way out of the kernel only.
    None,
}

impl fmt::Display for Preempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Preempt::Realtime => "PREEMPT_RT",
            Preempt::Full => "full",
            Preempt::Lazy => "lazy",
            Preempt::Voluntary => "voluntary",
            Preempt::None => "none",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases() {
        for (release, expected) in [
            ("6.12.0-1-rt-amd64", Some((6, 12))),
            ("5.14.0-427.el9", Some((5, 14))),
            ("7.2-rc1", Some((7, 2))),
            ("4.18", Some((4, 18))),
            ("6", None),
            ("", None),
            ("x.y", None),
            ("99999.1", None),
        ] {
            let expected = expected.map(|(major, minor)| KernelVersion::new(major, minor)).ok_or(());
            assert_eq!(release.parse::<KernelVersion>(), expected, "{release}");
        }
    }
}
