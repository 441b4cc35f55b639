//! Times the scheduler passed over runnable real-time threads: RT throttling or a deadline server.
//!
//! By the rules of its class a runnable real-time thread always goes before SCHED_OTHER and idle.
//! Where it did not, RT bandwidth control held it back (`kernel/sched/rt.c`, to 6.11, and later
//! with CONFIG_RT_GROUP_SCHED), or the fair server of 6.12 ran SCHED_OTHER for it
//! (`kernel/sched/deadline.c`). A deadline server never idles the CPU: idle settles it.

use crate::model::Culprit;
use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns, Tid};

/// A thread that is moved within this time of being taken off the CPU was taken off to be moved.
pub(crate) const MOVED_AT_ONCE: Ns = Ns::from_us(200);

/// To leave the CPU takes a thread no longer from the moment on at which it is to sleep. To be held back takes the rest of a
/// period, which is hardly ever as short.
pub(crate) const LONGEST_WAY_OFF: Ns = Ns::from_us(100);

/// A time in which a CPU ran idle or SCHED_OTHER although a real-time thread was runnable.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) cpu: Cpu,
    pub(crate) start: Ns,
    pub(crate) end: Option<Ns>,
    /// The real-time thread that was passed over first.
    pub(crate) passed_over: Tid,
    pub(crate) saw_idle: bool,
    /// The SCHED_OTHER thread that ran first, if one did, as it was then.
    pub(crate) ran: Option<Culprit>,
    /// The real-time thread that had used most of the CPU in the period before, as it was at the end of that.
    pub(crate) most_used_by: Option<Culprit>,
    /// The share of the CPU all real-time threads had used in the period before, and over how long.
    pub(crate) used: (f64, Ns),
    /// True once a thread that is explained lost time here.
    pub(crate) hurt: bool,
    /// The trace ends in it.
    pub(crate) is_cut: bool,
}

impl Window {
    /// True when enough of the period before was seen to show which thread used the time up.
    pub(crate) fn shows_user(&self, period: Ns) -> bool {
        self.used.1.0.saturating_mul(4) >= period.0
    }

    /// The real-time thread that used the time up, if enough was seen to know it.
    pub(crate) fn user(&self, period: Ns) -> Option<Culprit> {
        self.most_used_by.filter(|_| self.shows_user(period))
    }
}

/// The windows of a trace, by CPU and time.
#[derive(Default)]
pub(crate) struct Windows {
    all: Vec<Window>,
    /// The one in progress of each CPU, by index.
    open: FxHashMap<u32, usize>,
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
            window.is_cut |= window.end.is_none();
            window.end.get_or_insert(end);
        }
    }
}
