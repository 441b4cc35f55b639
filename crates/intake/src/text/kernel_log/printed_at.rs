//! When a message was printed, as far as its line shows it, and whether two of them may be of one instant.

use super::stamps;

/// A machine that stood still reports that of all its CPUs within so many seconds, as their timers are due when it goes on.
const AT_ONCE_S: u64 = 5;
/// CPUs print their lines not quite in order.
const OUT_OF_ORDER_S: u64 = 1;
const DAY_S: u64 = 24 * 60 * 60;

/// When a line was printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PrintedAt {
    /// So many boots began above it.
    boots: u64,
    /// Seconds since the boot.
    uptime: Option<u64>,
    /// Seconds since midnight, by a logger.
    of_day: Option<u64>,
}

impl PrintedAt {
    pub(super) fn of(line: &str, boots: u64) -> PrintedAt {
        PrintedAt { boots, uptime: stamps::seconds(line), of_day: stamps::time_of_day(line) }
    }

    /// True where both may be of one instant: nothing shows another boot or a time between them.
    pub(super) fn is_at_once(self, other: PrintedAt) -> bool {
        let of_day = self.of_day.zip(other.of_day).map(|(one, other)| one.abs_diff(other));
        let of_day = of_day.map(|apart| apart.min(DAY_S.saturating_sub(apart)));
        let apart = self.uptime.zip(other.uptime).map(|(one, other)| one.abs_diff(other)).or(of_day);
        self.boots == other.boots && apart.is_none_or(|apart| apart <= AT_ONCE_S)
    }

    /// True where a line below it is of another boot, or of a piece of the log that stood elsewhere.
    pub(super) fn is_left_for(self, next: PrintedAt) -> bool {
        let goes_back = |(one, next): (u64, u64)| next.saturating_add(OUT_OF_ORDER_S) < one;
        self.boots != next.boots || self.uptime.zip(next.uptime).is_some_and(goes_back)
    }
}

#[cfg(test)]
mod tests {
    use super::PrintedAt;

    #[test]
    fn two_lines_are_of_one_instant_unless_a_time_or_a_boot_is_between_them() {
        let at = |line, boots| PrintedAt::of(line, boots);
        let at_once = |one, other| at(one, 1).is_at_once(at(other, 1));
        assert!(at_once("[   96.384129] a", "[  101.1] b") && !at_once("[   96.384129] a", "[  102.1] b"));
        assert!(at_once("a", "[  102.1] b") && at_once("a", "b"));
        let day = |time| PrintedAt::of(&format!("Feb  1 {time} host kernel: a"), 1);
        assert!(day("23:59:58").is_at_once(day("00:00:02")));
        assert!(!day("16:48:14").is_at_once(day("16:48:22")));
        assert!(!at("[ 9.1] a", 1).is_at_once(at("[ 9.1] a", 2)));
        let left = |one, next| at(one, 1).is_left_for(at(next, 1));
        assert!(left("[ 96.3] a", "[ 88.5] b") && !left("[ 96.3] a", "[ 95.5] b") && !left("a", "[ 1.5] b"));
        assert!(at("a", 1).is_left_for(at("b", 2)));
    }
}
