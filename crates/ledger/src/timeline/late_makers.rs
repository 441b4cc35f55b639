//! What came late, and made packets, softirqs and work items: a thread that one of them wakes was due before.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use whylate_base::{Cpu, Ns, Tid};

/// So many are remembered: what they lead to follows soon.
const MOST: usize = 4096;
/// What a late work item or timer sets off follows it within this time, or within the time by which it was late.
const SOON: Ns = Ns::from_ms(10);

/// A work item or a timer that began late, as the thread that was to do it waited for a CPU. The packets, work items and softirqs that it
/// makes would have been there earlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LateMaker {
    /// When it was queued, or was to expire.
    pub(crate) since: Ns,
    /// When it began.
    pub(crate) begun: Ns,
    /// The thread that did it.
    pub(crate) carrier: Tid,
    pub(crate) cpu: Cpu,
}

/// One of them by its number, as each wake-up and packet carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LateId(NonZeroU32);

/// The latest of them.
#[derive(Debug, Default)]
pub(crate) struct LateMakers {
    latest: VecDeque<LateMaker>,
    /// How many came before those.
    forgotten: u32,
}

impl LateMakers {
    /// The number of one that makes something now; `None` once there are no more numbers.
    pub(crate) fn add(&mut self, late: LateMaker) -> Option<LateId> {
        // It makes many things, one after the other.
        if self.latest.back() != Some(&late) {
            if self.latest.len() >= MOST {
                self.latest.pop_front();
                self.forgotten = self.forgotten.saturating_add(1);
            }
            self.latest.push_back(late);
        }
        let number = self.forgotten.checked_add(u32::try_from(self.latest.len()).ok()?)?;
        NonZeroU32::new(number).map(LateId)
    }

    /// The one of that number, unless it is long ago.
    pub(crate) fn get(&self, id: LateId) -> Option<LateMaker> {
        let before = id.0.get().checked_sub(1)?.checked_sub(self.forgotten)?;
        self.latest.get(usize::try_from(before).ok()?).copied()
    }
}

impl LateMaker {
    /// True where it may be what led to something at `at`: that came soon after.
    pub(crate) fn leads_to(&self, at: Ns) -> bool {
        at >= self.begun && at - self.begun <= (self.begun - self.since).max(SOON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_known_by_their_numbers() {
        let late = |n: i64| LateMaker { since: Ns(n), begun: Ns(n + 9), carrier: Tid(7), cpu: Cpu(1) };
        let mut makers = LateMakers::default();
        let first = makers.add(late(0)).expect("a number");
        assert_eq!(makers.add(late(0)), Some(first));
        let ids: Vec<LateId> = (1..2 * MOST as i64).filter_map(|n| makers.add(late(n))).collect();
        assert_eq!(makers.get(first), None);
        assert!((MOST as i64..).zip(&ids[MOST - 1..]).all(|(n, id)| makers.get(*id) == Some(late(n))));
        assert_eq!(makers.latest.len(), MOST);
    }
}
