//! Jiffies in seconds, where the log shows how many a second has.

use super::stamps::number_behind;
use whylate_base::Ns;

/// The values of `CONFIG_HZ` (`kernel/Kconfig.hz`).
const HZ: [u64; 4] = [100, 250, 300, 1000];

/// How many jiffies a second has, where `jiffies` passed between two stamps that are so many whole seconds apart; `None` where that is
/// not clear.
pub(super) fn hz(jiffies: u64, seconds: u64) -> Option<u64> {
    // Each of the stamps lacks up to a second.
    let may_be = |hz: &&u64| {
        let (least, most) = (seconds.saturating_sub(1), seconds.saturating_add(1));
        (least.saturating_mul(**hz)..=most.saturating_mul(**hz)).contains(&jiffies)
    };
    let mut all = HZ.iter().filter(may_be);
    all.next().copied().filter(|_| all.next().is_none() && seconds > 1)
}

/// How many jiffies a second has, by a message of the boot; `None` of other lines.
///
/// ```text
/// clocksource: jiffies: mask: 0xffffffff max_cycles: 0xffffffff, max_idle_ns: 7645041785100000 ns     kernel/time/clocksource.c
/// rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.                              kernel/rcu/tree.c
/// ```
pub(super) fn hz_of_boot(message: &str) -> Option<u64> {
    /// `max_idle_ns` is that long at 1 Hz.
    const LONGEST_IDLE: u64 = 1_911_260_446_275_000_000;
    /// The delay is a tenth of a second, and a jiffy more for each 256 CPUs.
    const MORE_DELAY: u64 = 4;
    if message.contains("clocksource: jiffies: ") {
        let longest = number_behind(message, "max_idle_ns: ").filter(|&longest| longest > 0)?;
        return HZ.into_iter().find(|hz| (LONGEST_IDLE / longest).abs_diff(*hz) <= 1);
    }
    let delay = number_behind(message, "scheduler-enlistment delay is ")?;
    HZ.into_iter().find(|hz| (hz / 10..=hz / 10 + MORE_DELAY).contains(&delay))
}

/// The text with seconds behind its jiffies: `5250 jiffies (21.00 s)`.
pub(super) fn with_seconds(text: &str, hz: Option<u64>) -> String {
    const UNIT: &str = " jiffies";
    let Some(hz) = hz.filter(|hz| *hz > 0) else { return text.to_owned() };
    let mut all = String::with_capacity(text.len());
    let mut parts = text.split(UNIT).peekable();
    while let Some(part) = parts.next() {
        all.push_str(part);
        if parts.peek().is_none() {
            break;
        }
        all.push_str(UNIT);
        let digits = part.len() - part.trim_end_matches(|digit: char| digit.is_ascii_digit()).len();
        let number = part.get(part.len() - digits..).and_then(|number| number.parse::<u64>().ok());
        let time = number.and_then(|number| number.checked_mul(1_000_000_000 / hz));
        if let Some(time) = time.and_then(|time| i64::try_from(time).ok()) {
            all.push_str(&format!(" ({})", Ns(time)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_boot_show_how_long_a_jiffy_is() {
        let of_clock = |longest: u64| {
            hz_of_boot(&format!("clocksource: jiffies: mask: 0x1 max_cycles: 0x1, max_idle_ns: {longest} ns"))
        };
        let of_rcu = |delay: u64| {
            hz_of_boot(&format!(
                "rcu: RCU calculated value of scheduler-enlistment delay is {delay} jiffies."
            ))
        };
        let clocks =
            [19_112_604_462_750_000, 7_645_041_785_100_000, 6_370_867_519_511_994, 1_911_260_446_275_000];
        assert_eq!(clocks.map(of_clock), HZ.map(Some));
        assert_eq!([10, 25, 30, 100].map(of_rcu), HZ.map(Some));
        assert_eq!((of_clock(0), of_clock(7), of_rcu(60)), (None, None, None));
        assert_eq!(hz_of_boot("clocksource: tsc: max_idle_ns: 7645041785100000 ns"), None);
    }

    #[test]
    fn two_stamps_show_the_length_of_a_jiffy() {
        for (jiffies, seconds, expected) in [
            (15_755, 63, Some(250)),
            (63_000, 63, Some(1000)),
            (6_300, 64, Some(100)),
            (18_900, 63, Some(300)),
        ] {
            assert_eq!(hz(jiffies, seconds), expected, "{jiffies}");
        }
        assert_eq!([hz(15_755, 40), hz(250, 1), hz(0, 0), hz(1_400, 5)], [None; 4]);
        assert_eq!(
            with_seconds("for 5250 jiffies, and 10 jiffies; some jiffies", Some(250)),
            "for 5250 jiffies (21.000 s), and 10 jiffies (40.00 ms); some jiffies"
        );
        assert_eq!(with_seconds("5250 jiffies", None), "5250 jiffies");
    }
}
