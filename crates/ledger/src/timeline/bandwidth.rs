//! The kernel's bandwidth control of real-time threads, as it was set at each instant.

use super::past::Past;
use whylate_base::Ns;

/// `kernel.sched_rt_period_us`, unless the recording has another.
const DEFAULT_PERIOD: Ns = Ns::from_secs(1);
/// `kernel.sched_rt_runtime_us`, unless the recording has another.
const DEFAULT_RUNTIME: Ns = Ns::from_ms(950);

/// What the kernel's bandwidth control was at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    /// Major and minor version of the kernel.
    pub(crate) kernel: Option<(u32, u32)>,
    /// `None` where the recording does not have it.
    pub(crate) runtime: Option<RtRuntime>,
    pub(crate) period: Ns,
    pub(crate) group_sched: Option<bool>,
    pub(crate) fair_server: Option<u64>,
    /// The scheduler's clock was seen to be finer than the tick.
    pub(crate) counts_finely: bool,
}

/// `kernel.sched_rt_runtime_us`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RtRuntime {
    /// -1
    Unlimited,
    PerPeriod(Ns),
}

/// The settings over time. They change when an administrator or a service changes them, so all of their past is kept.
#[derive(Debug)]
pub(crate) struct BandwidthSettings {
    kernel: Option<(u32, u32)>,
    runtime: Past<Option<RtRuntime>>,
    period: Past<Ns>,
    group_sched: Past<Option<bool>>,
    fair_server: Past<Option<u64>>,
    counts_finely: bool,
}

impl BandwidthSettings {
    /// Of a kernel of this major and minor version.
    pub(crate) fn new(kernel: Option<(u32, u32)>) -> BandwidthSettings {
        BandwidthSettings {
            kernel,
            runtime: Past::default(),
            period: Past::assumed(DEFAULT_PERIOD),
            group_sched: Past::default(),
            fair_server: Past::default(),
            counts_finely: false,
        }
    }

    /// What was set at an instant. What was set before the first fact of the recording is taken from that fact.
    pub(crate) fn at(&self, instant: Ns) -> Bandwidth {
        Bandwidth {
            kernel: self.kernel,
            runtime: self.runtime.at(instant),
            period: self.period.at(instant),
            group_sched: self.group_sched.at(instant),
            fair_server: self.fair_server.at(instant),
            counts_finely: self.counts_finely,
        }
    }

    /// `kernel.sched_rt_runtime_us` is `us` from `at` on.
    pub(crate) fn set_runtime_us(&mut self, at: Ns, us: i64) {
        let runtime = if us < 0 { RtRuntime::Unlimited } else { RtRuntime::PerPeriod(Ns::from_us(us)) };
        self.runtime.set(at, Some(runtime));
    }

    /// `kernel.sched_rt_period_us`
    pub(crate) fn set_period(&mut self, at: Ns, period: Ns) {
        self.period.set(at, period);
    }

    /// CONFIG_RT_GROUP_SCHED, which a boot parameter may turn off.
    pub(crate) fn set_group_sched(&mut self, at: Ns, on: bool) {
        self.group_sched.set(at, Some(on));
    }

    /// The scheduler's clock is finer than the tick.
    pub(crate) fn counts_finely(&mut self) {
        self.counts_finely = true;
    }

    /// The fair server's runtime, in nanoseconds.
    pub(crate) fn set_fair_server(&mut self, at: Ns, runtime: u64) {
        self.fair_server.set(at, Some(runtime));
    }
}

impl Bandwidth {
    /// The runtime per period, where the recording has one and it is limited.
    pub(crate) fn limit(&self) -> Option<Ns> {
        match self.runtime? {
            RtRuntime::Unlimited => None,
            RtRuntime::PerPeriod(runtime) => Some(runtime),
        }
    }

    /// The same, or else the kernel's default.
    pub(crate) fn limit_or_default(&self) -> Ns {
        self.limit().unwrap_or(DEFAULT_RUNTIME)
    }

    /// Whether RT throttling can strike on this kernel; `None` when the recording does not show.
    pub(crate) fn throttles(&self) -> Option<bool> {
        // A limit of the whole period is none (`sched_rt_runtime_exceeded()`, `kernel/sched/rt.c`), but for those of groups.
        let is_whole =
            self.limit().is_some_and(|limit| limit >= self.period) && self.group_sched != Some(true);
        if self.runtime == Some(RtRuntime::Unlimited) || is_whole {
            return Some(false);
        }
        match (self.kernel, self.group_sched) {
            (Some(version), _) if version < (6, 12) => Some(true),
            (Some(_), Some(on)) => Some(on),
            (None, Some(true)) => Some(true),
            // Few kernels are built with CONFIG_RT_GROUP_SCHED, but some are.
            (Some(_), None) | (None, _) => None,
        }
    }

    /// Whether a fair server can strike on this kernel; `None` when the recording does not show.
    pub(crate) fn serves(&self) -> Option<bool> {
        match (self.kernel, self.fair_server) {
            (Some(version), _) if version < (6, 12) => Some(false),
            (_, Some(0)) => Some(false),
            (Some(_), _) | (_, Some(_)) => Some(true),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_what_they_were_at_an_instant() {
        let mut settings = BandwidthSettings::new(Some((6, 1)));
        assert_eq!(settings.at(Ns(5)).limit_or_default(), DEFAULT_RUNTIME);
        settings.set_runtime_us(Ns(10), 50_000);
        settings.set_runtime_us(Ns(20), -1);
        settings.set_period(Ns(20), Ns::from_ms(100));
        settings.set_period(Ns(30), Ns::from_ms(200));
        let throttles = [5, 10, 20, 30].map(|at| settings.at(Ns(at)).throttles());
        assert_eq!(throttles, [Some(true), Some(true), Some(false), Some(false)]);
        assert_eq!(settings.at(Ns(5)).limit(), Some(Ns::from_ms(50)));
        let periods = [5, 20, 30].map(|at| settings.at(Ns(at)).period);
        assert_eq!(periods, [100, 100, 200].map(Ns::from_ms));
    }

    #[test]
    fn a_limit_of_the_whole_period_is_none() {
        let mut settings = BandwidthSettings::new(Some((6, 1)));
        settings.set_runtime_us(Ns(10), 1_000_000);
        settings.set_runtime_us(Ns(20), 999_999);
        assert_eq!([10, 20].map(|at| settings.at(Ns(at)).throttles()), [Some(false), Some(true)]);
        settings.set_group_sched(Ns(30), true);
        assert_eq!(settings.at(Ns(10)).throttles(), Some(true), "groups have limits of their own");
    }
}
