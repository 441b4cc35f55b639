//! Implausible times: one flipped bit in a time must not make all later events look late.

use whylate_base::Ns;

/// Longer than a machine runs without an event, except across a suspend.
const JUMP: Ns = Ns::from_ms(600_000);

/// Distinguishes a single wrong time from a clock that really moved ahead.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockJumps {
    last: Option<Ns>,
    suspect: Option<Ns>,
}

impl ClockJumps {
    /// False for a time far ahead of the last, unless the time before it jumped to about the same place.
    #[inline]
    pub(crate) fn plausible(&mut self, ts: Ns) -> bool {
        let ahead = |of: Ns| ts.0.checked_sub(of.0).is_none_or(|gap| gap > JUMP.0);
        if self.last.is_some_and(ahead) {
            let again = self.suspect.is_some_and(|suspect| !ahead(suspect) && ts >= suspect - JUMP);
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
    fn one_wrong_time_is_skipped_and_a_suspend_is_kept() {
        let mut jumps = ClockJumps::default();
        let hour = 3_600_000_000_000;
        let times = [5, 6, 1 << 60, 7, i64::MAX, 8, hour, hour + 1, hour + 2, 9];
        let plausible: Vec<bool> = times.iter().map(|&ts| jumps.plausible(Ns(ts))).collect();
        assert_eq!(plausible, [true, true, false, true, false, true, false, true, true, true]);
    }
}
