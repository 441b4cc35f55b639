//! When the CPU controller's quotas were refilled.
//!
//! A cgroup with `cpu.max` has a timer that refills its quota each period, and one that hands out what other
//! CPUs gave back (`sched_cfs_period_timer` and `sched_cfs_slack_timer`, `kernel/sched/fair.c`). A thread
//! that was stopped for want of quota runs again right after one of them.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use whylate_base::Ns;
use whylate_events::HrtimerExpiry;

/// No turn of one other in a fair queue takes so long; periods are 100 ms unless set.
pub(crate) const LONGEST_TURN: Ns = Ns::from_ms(10);
/// A wait for which several others must have had a turn, or the quota was used up.
pub(crate) const LONG_WAIT: Ns = Ns::from_ms(20);
/// See [`LongWaits::show_quota`].
const ENOUGH: u32 = 4;
/// The same: one in so many waits may have been for something else.
const MOST_OTHERS: u32 = 8;

/// How the long waits of a SCHED_OTHER thread ended: by a refill, or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LongWaits {
    by_refill: u32,
    others: u32,
}

impl LongWaits {
    /// Counts a wait of [`LONG_WAIT`] or more that ended `at`, with the last refill within it.
    pub(crate) fn note(&mut self, at: Ns, refill: Option<Refill>) {
        match refill {
            Some(refill) if ends_wait(refill, at) => self.by_refill += 1,
            _ => self.others += 1,
        }
    }

    /// True where a refill ended nearly all of them: waits for a turn end at any time between two refills.
    pub(crate) fn show_quota(&self) -> bool {
        self.by_refill >= ENOUGH && self.others * MOST_OTHERS <= self.by_refill
    }
}

/// True where a thread that ran again `at` may have waited for the refill: with its quota back it is one of several in the fair
/// queue again.
pub(crate) fn ends_wait(refill: Refill, at: Ns) -> bool {
    at - refill.at <= LONGEST_TURN
}

/// The timers of all cgroups.
#[derive(Debug, Default)]
pub(crate) struct QuotaTimers {
    refills: VecDeque<Refill>,
    /// When each period timer last expired.
    last: FxHashMap<u64, Ns>,
    /// True once a timer's function was seen by name: then one that is not seen did not expire.
    named: bool,
    seen: bool,
}

/// A quota was refilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refill {
    pub(crate) at: Ns,
    /// The same timer's expiry before.
    pub(crate) since: Option<Ns>,
}

impl QuotaTimers {
    /// Takes in that a timer expired at `at`.
    pub(crate) fn fire(&mut self, at: Ns, expiry: &HrtimerExpiry) {
        let name = expiry.function.as_str();
        self.named |= !name.is_empty();
        if !name.starts_with("sched_cfs_") {
            return;
        }
        if name.starts_with("sched_cfs_period_timer") {
            let since = self.last.insert(expiry.hrtimer, at);
            self.refills.push_back(Refill { at, since });
        } else if name.starts_with("sched_cfs_slack_timer") {
            self.refills.push_back(Refill { at, since: None });
        }
        self.seen = true;
    }

    /// The last refill in `from..to`.
    pub(crate) fn last_between(&self, from: Ns, to: Ns) -> Option<Refill> {
        self.refills.iter().rev().find(|refill| refill.at < to).filter(|refill| refill.at >= from).copied()
    }

    /// Whether any cgroup's quota was in use: `None` when the recording cannot tell.
    pub(crate) fn in_use(&self) -> Option<bool> {
        if self.seen { Some(true) } else { self.named.then_some(false) }
    }

    /// Forgets what was before `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        while self.refills.front().is_some_and(|refill| refill.at < horizon) {
            self.refills.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expiry(function: &str, hrtimer: u64) -> HrtimerExpiry {
        HrtimerExpiry { hrtimer, function: function.into(), now: Ns(0) }
    }

    #[test]
    fn refills_are_told_by_their_timers_names() {
        let mut timers = QuotaTimers::default();
        timers.fire(Ns(1), &expiry("", 1));
        assert_eq!(timers.in_use(), None);
        timers.fire(Ns(2), &expiry("hrtimer_wakeup", 1));
        assert_eq!(timers.in_use(), Some(false));
        timers.fire(Ns(10), &expiry("sched_cfs_period_timer", 7));
        timers.fire(Ns(20), &expiry("sched_cfs_period_timer+0x0/0x1", 7));
        timers.fire(Ns(25), &expiry("sched_cfs_slack_timer", 8));
        assert_eq!(timers.in_use(), Some(true));
        assert_eq!(timers.last_between(Ns(12), Ns(22)), Some(Refill { at: Ns(20), since: Some(Ns(10)) }));
        assert_eq!(timers.last_between(Ns(12), Ns(30)), Some(Refill { at: Ns(25), since: None }));
        assert_eq!(timers.last_between(Ns(21), Ns(25)), None);
        timers.forget(Ns(26));
        assert_eq!(timers.last_between(Ns(0), Ns(30)), None);
    }
}
