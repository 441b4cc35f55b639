//! Which kernel it is, and how it may be preempted.

use super::Kernel;
use crate::Unread;
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

/// The token stands in `uname -v` since 5.x; the patches for 4.x wrote `PREEMPT RT`.
pub(super) fn is_realtime(kernel: &Kernel) -> Result<bool, Unread> {
    if let Ok(version) = kernel.version.need() {
        let words: Vec<&str> = version.split_ascii_whitespace().collect();
        if words.contains(&"PREEMPT_RT") || words.windows(2).any(|pair| pair == ["PREEMPT", "RT"]) {
            return Ok(true);
        }
    }
    // A builder may set a version text of his own (KBUILD_BUILD_VERSION), not a configuration.
    if let Some(config) = kernel.config.known().filter(|config| config.is_of_running()) {
        return Ok(config.has("PREEMPT_RT") || config.has("PREEMPT_RT_FULL"));
    }
    kernel.version.need().map(|_| false)
}

pub(super) fn preemption(kernel: &Kernel) -> Result<Preempt, Unread> {
    if is_realtime(kernel)? {
        return Ok(Preempt::Realtime);
    }
    let named = |name: &str| match name {
        "full" => Some(Preempt::Full),
        "lazy" => Some(Preempt::Lazy),
        "voluntary" => Some(Preempt::Voluntary),
        "none" => Some(Preempt::None),
        _ => None,
    };
    // debugfs has the last word: it can be changed while the kernel runs.
    if let Some(model) = kernel.preempt.known().and_then(|choice| named(&choice.chosen)) {
        return Ok(model);
    }
    let version = kernel.version.need()?;
    let token = |token: &str| version.split_ascii_whitespace().any(|word| word == token);
    if token("PREEMPT_DYNAMIC") {
        if let Some(model) = kernel.cmdline.need()?.get("preempt").and_then(named) {
            return Ok(model);
        }
    } else if token("PREEMPT") || token("PREEMPT_LAZY") {
        return Ok(if token("PREEMPT") { Preempt::Full } else { Preempt::Lazy });
    }
    let config = kernel.config.need()?;
    let default = [
        ("PREEMPT_LAZY", Preempt::Lazy),
        ("PREEMPT_VOLUNTARY", Preempt::Voluntary),
        ("PREEMPT_NONE", Preempt::None),
        ("PREEMPT", Preempt::Full),
    ];
    Ok(default.into_iter().find(|(option, _)| config.has(option)).map_or(Preempt::None, |(_, model)| model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FsRoot;

    fn kernel(files: &[(&str, &str)]) -> Kernel {
        Kernel::read(&FsRoot::memory(files))
    }

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

    #[test]
    fn only_the_token_or_its_own_configuration_makes_a_kernel_realtime() {
        const V: &str = "/proc/sys/kernel/version";
        for (version, expected) in [
            ("#1 SMP PREEMPT_RT Debian 7.2-1", true),
            ("#1 SMP PREEMPT RT Wed 2019", true),
            ("#1 SMP PREEMPT_DYNAMIC Debian", false),
            ("#1 SMP PREEMPT Debian RT", false),
            ("#1 SMP PREEMPT_RTX", false),
        ] {
            assert_eq!(kernel(&[(V, version)]).is_realtime(), Ok(expected), "{version}");
        }
        // Only a flag that is not sufficient alone.
        assert!(kernel(&[("/sys/kernel/realtime", "1\n")]).is_realtime().is_err());
    }

    #[test]
    fn models() {
        const V: &str = "/proc/sys/kernel/version";
        const C: &str = "/proc/cmdline";
        const CONFIG: (&str, &str) =
            ("/boot/config-6.1.0", "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n");
        const R: (&str, &str) = ("/proc/sys/kernel/osrelease", "6.1.0\n");
        let dynamic = (V, "#1 SMP PREEMPT_DYNAMIC x");
        assert_eq!(kernel(&[dynamic, (C, "preempt=full")]).preemption(), Ok(Preempt::Full));
        assert_eq!(kernel(&[dynamic, (C, "quiet"), R, CONFIG]).preemption(), Ok(Preempt::Voluntary));
        assert!(
            kernel(&[dynamic, (C, "quiet")]).preemption().is_err(),
            "the default is in the configuration"
        );
        assert!(kernel(&[dynamic]).preemption().is_err(), "the command line is not known");
        let debug = ("/sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n");
        assert_eq!(kernel(&[dynamic, debug]).preemption(), Ok(Preempt::Full));
        assert_eq!(kernel(&[(V, "#1 SMP PREEMPT x")]).preemption(), Ok(Preempt::Full));
        assert_eq!(
            kernel(&[(V, "#1 SMP PREEMPT_RT x"), (C, "preempt=none")]).preemption(),
            Ok(Preempt::Realtime)
        );
    }
}
