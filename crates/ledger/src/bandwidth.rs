//! Times the scheduler passed over runnable real-time threads: RT throttling or a deadline server.
//!
//! By the rules of its class a runnable real-time thread always goes before SCHED_OTHER and idle.
//! Where it did not, RT bandwidth control held it back (`kernel/sched/rt.c`, to 6.11, and later
//! with CONFIG_RT_GROUP_SCHED), or the fair server of 6.12 ran SCHED_OTHER for it
//! (`kernel/sched/deadline.c`). A deadline server never idles the CPU: idle settles it.

use crate::Cause;
use crate::cpus::CpuTimeline;
use crate::engine::Engine;
use std::collections::HashMap;
use whylate_base::{Comm, Confidence, Cpu, Ns, Priority, Tid};

/// The period over which RT runtime is counted, unless the recording tells another.
const DEFAULT_PERIOD: Ns = Ns::from_secs(1);
/// The runtime per period, unless the recording tells another.
const DEFAULT_RUNTIME: Ns = Ns::from_ms(950);

/// What is known of the kernel's bandwidth control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    /// Major and minor version of the kernel.
    pub(crate) kernel: Option<(u32, u32)>,
    pub(crate) runtime: Option<Ns>,
    /// True when `sched_rt_runtime_us` is -1.
    pub(crate) unlimited: bool,
    pub(crate) period: Ns,
    pub(crate) group_sched: Option<bool>,
    pub(crate) fair_server: Option<u64>,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Bandwidth {
            kernel: None,
            runtime: None,
            unlimited: false,
            period: DEFAULT_PERIOD,
            group_sched: None,
            fair_server: None,
        }
    }
}

/// A time in which a CPU ran idle or SCHED_OTHER although a real-time thread was runnable.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cpu: Cpu,
    pub(crate) start: Ns,
    pub(crate) end: Option<Ns>,
    /// The real-time thread that was passed over first.
    pub(crate) passed_over: Tid,
    pub(crate) saw_idle: bool,
    /// The SCHED_OTHER thread that ran first, if one did.
    pub(crate) ran: Option<(Tid, Comm)>,
    /// The real-time thread that had used most of the CPU in the period before.
    pub(crate) most_used_by: Option<(Tid, Priority)>,
    /// The share of the CPU all real-time threads had used in the period before, and over how long.
    pub(crate) used: (f64, Ns),
    /// True once a thread that is explained lost time here.
    pub(crate) hurt: bool,
}

impl Window {
    /// Which mechanism it was, and how surely.
    pub(crate) fn cause(&self, bandwidth: &Bandwidth) -> (Cause, Confidence) {
        let throttles = bandwidth.throttles();
        if self.saw_idle {
            // A runnable real-time thread and an idle CPU: no server does that, and a kernel
            // without throttling has no reason to either.
            if throttles == Some(false) {
                return (Cause::Unexplained, Confidence::Low);
            }
            if self.used_too_little(bandwidth) {
                return (Cause::CoarseClockThrottled, Confidence::Medium);
            }
            return (
                Cause::RtThrottled,
                if throttles == Some(true) { Confidence::High } else { Confidence::Medium },
            );
        }
        match (throttles, bandwidth.serves()) {
            (Some(true), Some(false)) if self.used_too_little(bandwidth) => {
                (Cause::CoarseClockThrottled, Confidence::Medium)
            }
            (Some(true), Some(false)) => (Cause::RtThrottled, Confidence::High),
            (Some(false), Some(true)) => (Cause::FairServer, Confidence::High),
            (Some(false), Some(false)) => (Cause::Unexplained, Confidence::Low),
            (_, Some(false)) => (Cause::RtThrottled, Confidence::Medium),
            (Some(false), _) | (None, Some(true)) => (Cause::FairServer, Confidence::Medium),
            // Both may: only SCHED_OTHER ran, which either would show.
            (Some(true), Some(true)) => (Cause::FairServer, Confidence::Low),
            (_, None) => (Cause::RtThrottled, Confidence::Low),
        }
    }

    /// True when enough of the period before was seen to tell who used the time up.
    pub(crate) fn shows_user(&self, period: Ns) -> bool {
        self.used.1.0.saturating_mul(4) >= period.0
    }

    /// The real-time thread that used the time up, if enough was seen to tell.
    pub(crate) fn user(&self, period: Ns) -> Option<(Tid, Priority)> {
        self.most_used_by.filter(|_| self.shows_user(period))
    }

    /// True when a whole period was seen and real-time use in it was far from the limit.
    fn used_too_little(&self, bandwidth: &Bandwidth) -> bool {
        let (share, over) = self.used;
        let limit =
            bandwidth.runtime.unwrap_or(DEFAULT_RUNTIME).as_secs_f64() / bandwidth.period.as_secs_f64();
        // RT_RUNTIME_SHARE lets CPUs borrow, so that a CPU's own limit can only be higher.
        over.0 >= bandwidth.period.0 / 2 && share < 0.5 * limit
    }
}

impl Bandwidth {
    /// Whether RT throttling can strike on this kernel; `None` when the recording does not tell.
    fn throttles(&self) -> Option<bool> {
        if self.unlimited {
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

    /// Whether a fair server can strike on this kernel; `None` when the recording does not tell.
    fn serves(&self) -> Option<bool> {
        match (self.kernel, self.fair_server) {
            (Some(version), _) if version < (6, 12) => Some(false),
            (_, Some(0)) => Some(false),
            (Some(_), _) | (_, Some(_)) => Some(true),
            (None, None) => None,
        }
    }
}

/// Major and minor of a release such as `6.12.9-rt-amd64`.
pub(crate) fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

impl Engine<'_> {
    /// Real-time use of a CPU in the period before `until`, as far as it was seen: as of [`usage`].
    pub(crate) fn realtime_use(
        &self,
        timeline: &CpuTimeline,
        until: Ns,
    ) -> (Option<(Tid, Priority)>, f64, Ns) {
        let from = (until - self.bandwidth.period).max(self.first.unwrap_or(until));
        usage(timeline.between(from, until))
    }
}

/// Sums real-time use over stretches: the top user and the share of all.
fn usage(
    stretches: impl Iterator<Item = (Ns, Ns, crate::cpus::Stretch)>,
) -> (Option<(Tid, Priority)>, f64, Ns) {
    let mut by_thread: HashMap<Tid, (Priority, Ns)> = HashMap::new();
    let (mut used, mut seen) = (Ns::ZERO, Ns::ZERO);
    // An interrupt's time is booked on the thread below it unless the kernel accounts it apart.
    let mut below: Option<(Tid, Priority)> = None;
    for (from, to, stretch) in stretches {
        let length = to - from;
        match stretch.who {
            crate::cpus::Who::Unknown => {
                below = None;
                continue;
            }
            crate::cpus::Who::Task(tid, prio) => below = prio.realtime_user().map(|_| (tid, prio)),
            crate::cpus::Who::Idle => below = None,
            crate::cpus::Who::Irq(_) | crate::cpus::Who::Softirq(_) => {}
        }
        seen += length;
        if let Some((tid, prio)) = below {
            used += length;
            by_thread.entry(tid).or_insert((prio, Ns::ZERO)).1 += length;
        }
    }
    let top =
        by_thread.into_iter().max_by_key(|&(tid, (_, time))| (time, tid)).map(|(tid, (prio, _))| (tid, prio));
    let share = if seen > Ns::ZERO { used.as_secs_f64() / seen.as_secs_f64() } else { 0.0 };
    (top, share, seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(saw_idle: bool, used: f64) -> Window {
        Window {
            cpu: Cpu(0),
            start: Ns(0),
            end: None,
            passed_over: Tid(1),
            saw_idle,
            ran: None,
            most_used_by: None,
            used: (used, Ns::from_secs(1)),
            hurt: false,
        }
    }

    #[test]
    fn the_mechanism_is_told_by_version_and_by_idle() {
        let kernel =
            |version, group_sched| Bandwidth { kernel: Some(version), group_sched, ..Bandwidth::default() };
        for (bandwidth, saw_idle, used, cause) in [
            (kernel((6, 1), None), false, 0.95, Cause::RtThrottled),
            (kernel((6, 1), None), true, 0.95, Cause::RtThrottled),
            (kernel((6, 1), None), true, 0.10, Cause::CoarseClockThrottled),
            (kernel((6, 12), Some(false)), false, 0.95, Cause::FairServer),
            (kernel((6, 12), None), false, 0.95, Cause::FairServer),
            (kernel((6, 12), Some(false)), true, 0.95, Cause::Unexplained),
            (kernel((6, 18), Some(true)), true, 0.95, Cause::RtThrottled),
            (Bandwidth::default(), true, 0.95, Cause::RtThrottled),
        ] {
            assert_eq!(window(saw_idle, used).cause(&bandwidth).0, cause, "{bandwidth:?} idle {saw_idle}");
        }
    }

    #[test]
    fn releases_have_versions() {
        assert_eq!(version("6.12.9-rt-amd64"), Some((6, 12)));
        assert_eq!(version("5.4.140-rt64"), Some((5, 4)));
        assert_eq!(version("unknown"), None);
    }
}
