//! How a kernel may be preempted: from `uname -v`, its configuration, its command line and debugfs.

use super::{Kernel, Preempt};
use crate::Unread;

impl Kernel {
    /// Whether it is PREEMPT_RT: by the token in `uname -v`, never only by `/sys/kernel/realtime`.
    ///
    /// # Errors
    /// If `uname -v` could not be read, and neither the configuration of the running self.
    pub fn is_realtime(&self) -> Result<bool, Unread> {
        // The token stands there since 5.x; the patches for 4.x wrote `PREEMPT RT`.
        if let Ok(version) = self.version.need() {
            let words: Vec<&str> = version.split_ascii_whitespace().collect();
            if words.contains(&"PREEMPT_RT") || words.windows(2).any(|pair| pair == ["PREEMPT", "RT"]) {
                return Ok(true);
            }
        }
        // A builder may set a version text of his own (KBUILD_BUILD_VERSION), not a configuration.
        if let Some(config) = self.config.known().filter(|config| config.is_of_running()) {
            return Ok(config.has("PREEMPT_RT") || config.has("PREEMPT_RT_FULL"));
        }
        self.version.need().map(|_| false)
    }

    /// How the kernel may be preempted.
    ///
    /// # Errors
    /// If the version could not be read.
    pub fn preemption(&self) -> Result<Preempt, Unread> {
        if self.is_realtime()? {
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
        if let Some(model) = self.preempt.known().and_then(|choice| named(&choice.chosen)) {
            return Ok(model);
        }
        let version = self.version.need()?;
        let token = |token: &str| version.split_ascii_whitespace().any(|word| word == token);
        if token("PREEMPT_DYNAMIC") {
            if let Some(model) = self.cmdline.need()?.get("preempt").and_then(named) {
                return Ok(model);
            }
        } else if token("PREEMPT") || token("PREEMPT_LAZY") {
            return Ok(if token("PREEMPT") { Preempt::Full } else { Preempt::Lazy });
        }
        let config = self.config.need()?;
        let default = [
            ("PREEMPT_LAZY", Preempt::Lazy),
            ("PREEMPT_VOLUNTARY", Preempt::Voluntary),
            ("PREEMPT_NONE", Preempt::None),
            ("PREEMPT", Preempt::Full),
        ];
        Ok(default
            .into_iter()
            .find(|(option, _)| config.has(option))
            .map_or(Preempt::None, |(_, model)| model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FsRoot;

    fn kernel(files: &[(&str, &str)]) -> Kernel {
        Kernel::read(&FsRoot::memory(files))
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
