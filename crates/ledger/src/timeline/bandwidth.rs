//! Times the scheduler passed over runnable real-time threads: RT throttling or a deadline server.
//!
//! By the rules of its class a runnable real-time thread always goes before SCHED_OTHER and idle.
//! Where it did not, RT bandwidth control held it back (`kernel/sched/rt.c`, to 6.11, and later
//! with CONFIG_RT_GROUP_SCHED), or the fair server of 6.12 ran SCHED_OTHER for it
//! (`kernel/sched/deadline.c`). A deadline server never idles the CPU: idle settles it.

use super::cpus::Clip;
use super::running::Running;
use std::collections::HashMap;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};

/// The period over which RT runtime is counted, unless the recording tells another.
const DEFAULT_PERIOD: Ns = Ns::from_secs(1);
/// The runtime per period, unless the recording tells another.
pub(crate) const DEFAULT_RUNTIME: Ns = Ns::from_ms(950);

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
    /// True when enough of the period before was seen to tell which thread used the time up.
    pub(crate) fn shows_user(&self, period: Ns) -> bool {
        self.used.1.0.saturating_mul(4) >= period.0
    }

    /// The real-time thread that used the time up, if enough was seen to tell.
    pub(crate) fn user(&self, period: Ns) -> Option<(Tid, Priority)> {
        self.most_used_by.filter(|_| self.shows_user(period))
    }
}

/// The windows of a trace, by CPU and time.
#[derive(Default)]
pub(crate) struct Windows {
    all: Vec<Window>,
    /// The one in progress of each CPU, by index.
    open: HashMap<u32, usize>,
}

impl Windows {
    /// All of them, in the order in which they were seen.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.all.iter()
    }

    /// True while a CPU passes over real-time threads.
    pub(crate) fn is_open(&self, cpu: Cpu) -> bool {
        self.open.contains_key(&cpu.0)
    }

    /// The one in progress on a CPU.
    pub(crate) fn open_on(&mut self, cpu: Cpu) -> Option<&mut Window> {
        self.all.get_mut(*self.open.get(&cpu.0)?)
    }

    /// The one on a CPU at an instant.
    pub(crate) fn at(&self, cpu: Cpu, instant: Ns) -> Option<&Window> {
        self.all.iter().rev().find(|window| {
            window.cpu == cpu && window.start <= instant && window.end.is_none_or(|end| end > instant)
        })
    }

    /// The last one on a CPU in some of `from..to`.
    pub(crate) fn overlapping(&mut self, cpu: Cpu, from: Ns, to: Ns) -> Option<&mut Window> {
        self.all
            .iter_mut()
            .rev()
            .find(|window| window.cpu == cpu && window.start < to && window.end.is_none_or(|end| end > from))
    }

    /// One that has ended.
    pub(crate) fn add(&mut self, window: Window) {
        self.all.push(window);
    }

    /// One begins, and is in progress.
    pub(crate) fn open(&mut self, window: Window) {
        self.open.insert(window.cpu.0, self.all.len());
        self.all.push(window);
    }

    /// The one in progress on a CPU ends; returns when.
    pub(crate) fn close(&mut self, cpu: Cpu, end: Ns) -> Option<Ns> {
        let window = self.all.get_mut(self.open.remove(&cpu.0)?)?;
        window.end = Some(end.max(window.start));
        window.end
    }

    /// The trace ends.
    pub(crate) fn close_all(&mut self, end: Ns) {
        for window in &mut self.all {
            window.end.get_or_insert(end);
        }
    }
}

impl Bandwidth {
    /// Whether RT throttling can strike on this kernel; `None` when the recording does not tell.
    pub(crate) fn throttles(&self) -> Option<bool> {
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
    pub(crate) fn serves(&self) -> Option<bool> {
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

/// Sums real-time use over slices: the top user and the share of all.
pub(super) fn usage(slices: impl Iterator<Item = Clip>) -> (Option<(Tid, Priority)>, f64, Ns) {
    let mut by_thread: HashMap<Tid, (Priority, Ns)> = HashMap::new();
    let (mut used, mut seen) = (Ns::ZERO, Ns::ZERO);
    // An interrupt's time is booked on the thread below it unless the kernel accounts it apart.
    let mut below: Option<(Tid, Priority)> = None;
    for (from, to, slice) in slices {
        let length = to - from;
        match slice.running {
            Running::Unknown => {
                below = None;
                continue;
            }
            Running::Task(tid, prio) => below = prio.realtime_user().map(|_| (tid, prio)),
            Running::Idle => below = None,
            Running::Irq(_) | Running::Softirq(_) | Running::Nmi => {}
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

    #[test]
    fn releases_have_versions() {
        assert_eq!(version("6.12.9-rt-amd64"), Some((6, 12)));
        assert_eq!(version("5.4.140-rt64"), Some((5, 4)));
        assert_eq!(version("unknown"), None);
    }
}
