//! The bound on the CPU time of late activations: saving windows is paid from a share that builds up with time.

use whylate_base::Ns;

/// What may be used at once.
const AT_ONCE: Ns = Ns::from_secs(1);
/// Unused time builds up to this at most.
const MOST: Ns = Ns::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(super) struct LateBudget {
    share: f64,
    left: Ns,
    at: Ns,
    spent: Ns,
}

impl LateBudget {
    pub(super) fn new(share: f64, now: Ns) -> LateBudget {
        LateBudget { share, left: AT_ONCE, at: now, spent: Ns::ZERO }
    }

    /// Whether there is time for one more.
    pub(super) fn has_room(&mut self, now: Ns) -> bool {
        self.left = (self.left + Ns((now.since(self.at).0 as f64 * self.share) as i64)).min(MOST);
        self.at = self.at.max(now);
        self.left > Ns::ZERO
    }

    /// Takes in what one took.
    pub(super) fn spend(&mut self, time: Ns) {
        self.left -= time;
        self.spent += time;
    }

    /// All that was spent.
    pub(super) fn spent(&self) -> Ns {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_spent_than_builds_up() {
        let mut budget = LateBudget::new(0.01, Ns::ZERO);
        for ms in 0..100_000 {
            if budget.has_room(Ns::from_ms(ms)) {
                budget.spend(Ns::from_ms(20));
            }
        }
        let spent = budget.spent();
        assert!(spent >= Ns::from_ms(1_900) && spent <= Ns::from_ms(2_040), "{spent}");
    }
}
