//! Times that cannot be: one flipped bit in a time must not make everything behind it look late.

use whylate_base::Ns;

/// Longer than machines go without an event, but for a suspend.
const LEAP: Ns = Ns::from_ms(600_000);

/// Tells a time that leaps ahead from one that time really went on to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaps {
    last: Option<Ns>,
    suspect: Option<Ns>,
}

impl Leaps {
    /// False for a time far ahead of the last, unless the time before it leapt to about there as well.
    #[inline]
    pub(crate) fn plausible(&mut self, ts: Ns) -> bool {
        let ahead = |of: Ns| ts.0.checked_sub(of.0).is_none_or(|gap| gap > LEAP.0);
        if self.last.is_some_and(ahead) {
            let again = self.suspect.is_some_and(|suspect| !ahead(suspect) && ts >= suspect - LEAP);
            if !again {
                self.suspect = Some(ts);
                return false;
            }
        }
        self.last = Some(ts);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_time_is_passed_over_and_a_suspend_is_not() {
        let mut leaps = Leaps::default();
        let hour = 3_600_000_000_000;
        let times = [5, 6, 1 << 60, 7, i64::MAX, 8, hour, hour + 1, hour + 2, 9];
        let plausible: Vec<bool> = times.iter().map(|&ts| leaps.plausible(Ns(ts))).collect();
        assert_eq!(plausible, [true, true, false, true, false, true, false, true, true, true]);
    }
}
