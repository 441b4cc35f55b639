//! What messages about an unstable clock show (`kernel/time/clocksource.c`, `arch/x86/kernel/tsc.c`).
//!
//! ```text
//! clocksource: timekeeping watchdog on CPU17: Marking clocksource 'tsc' as unstable because the skew is too large:
//! clocksource:   Clocksource 'tsc' skewed 436888 ns (0 ms) over watchdog 'hpet' interval of 503029760 ns (503 ms)
//! tsc: Marking TSC unstable due to clocksource watchdog
//! clocksource: Switched to clocksource hpet
//! ```

use super::clock_reads::ClockReads;
use super::stamps::{cpu_behind, number_behind};
use whylate_base::Ns;

/// Clocks whose reading is an access to a device, slower by far than one of the CPU's counter (`drivers/clocksource/acpi_pm.c`,
/// `arch/x86/kernel/hpet.c`).
const SLOW: [&str; 3] = ["hpet", "acpi_pm", "pit"];

/// What the messages show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnstableClock {
    /// The clock that was marked unstable.
    unstable: Option<String>,
    /// The CPU that found it.
    cpu: Option<u32>,
    /// By how much it differed from which other clock, and over what time.
    skew: Option<(Ns, String, Ns)>,
    /// The clock that the kernel switched to then.
    switched_to: Option<String>,
    /// A clock was given up, whichever it is.
    is_marked: bool,
    /// Checks without a result.
    reads: ClockReads,
}

impl UnstableClock {
    /// Takes in a line; false where it is none of these.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if let Some((_, rest)) = message.split_once("Marking clocksource ") {
            self.cpu = self.cpu.or(cpu_behind(message, "watchdog on CPU"));
            self.unstable = self.unstable.take().or_else(|| name(rest));
        } else if message.contains("Marking TSC unstable") || message.contains("Clocksource tsc unstable") {
            self.unstable.get_or_insert_with(|| "tsc".to_owned());
        } else if let Some((_, rest)) = message.split_once(" skewed ") {
            self.skew = self.skew.take().or_else(|| skew(rest));
        } else if let Some((_, rest)) = message
            .split_once("Switched to clocksource ")
            .or_else(|| message.split_once("Switching to clocksource "))
        {
            // At each boot the kernel switches clocks, too.
            self.switched_to =
                self.unstable.is_some().then(|| name(rest)).flatten().or(self.switched_to.take());
        } else if let Some((_, rest)) =
            message.split_once("marking ").filter(|(_, rest)| rest.contains("unstable"))
        {
            // `..., attempt 3, marking tsc unstable`; before 5.18 without the name.
            self.cpu = self.cpu.or(cpu_behind(message, "watchdog on CPU"));
            let clock = name(rest).filter(|clock| clock != "unstable");
            self.unstable = self.unstable.take().or(clock);
            self.is_marked = true;
        } else {
            return self.reads.line(message);
        }
        true
    }

    /// What it means; `None` where neither a clock that was given up nor a check without a result is shown.
    pub(super) fn meaning(&self) -> Option<String> {
        let Some(clock) = self.unstable.as_ref() else {
            return self.reads.meaning().filter(|_| !self.is_marked);
        };
        let cpu = self.cpu.map(|cpu| format!(", by a check on CPU {cpu}")).unwrap_or_default();
        let skew = self
            .skew
            .as_ref()
            .map(|(skew, other, interval)| format!(", as it and {other} differed by {skew} over {interval}"));
        let mut text =
            format!("the kernel gave up the clock {clock} as unstable{cpu}{}", skew.unwrap_or_default());
        text.push_str(". Which of the clocks was wrong, or whether the machine stood still, is not shown");
        if let Some(to) = &self.switched_to {
            text.push_str(&format!(". It reads the time from {to} since then"));
            if SLOW.contains(&to.as_str()) {
                text.push_str(
                    ", which is slow: each reading of the clock costs much more, in programs and in traces",
                );
            }
        }
        Some(text)
    }
}

/// `436888 ns (0 ms) over watchdog 'hpet' interval of 503029760 ns`
fn skew(text: &str) -> Option<(Ns, String, Ns)> {
    let (skew, rest) = text.split_once(" ns ")?;
    let other = name(rest.split_once("watchdog ")?.1)?;
    let interval = number_behind(rest, "interval of ").and_then(|ns| i64::try_from(ns).ok())?;
    let skew: i64 = skew.trim().parse().ok()?;
    Some((Ns(skew.checked_abs()?), other, Ns(interval)))
}

/// `'tsc' as`, `hpet`
fn name(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\'');
    let end =
        text.find(|sign: char| !(sign.is_ascii_alphanumeric() || "_-".contains(sign))).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_that_is_read_from_then_on_is_named() {
        let mut clock = UnstableClock::default();
        assert!(clock.line("clocksource: Switched to clocksource tsc-early"));
        assert_eq!(clock.meaning(), None);
        assert!(clock.line("clocksource: timekeeping watchdog on CPU17: Marking clocksource 'tsc' as unstable because the skew is too large:"));
        let all = [
            "Clocksource 'tsc' skewed -436888 ns (0 ms) over watchdog 'hpet' interval of 503029760 ns (503 ms)",
            "tsc: Marking TSC unstable due to clocksource watchdog",
            "clocksource: Switched to clocksource hpet",
        ];
        assert!(all.iter().all(|line| clock.line(line)));
        let meaning = "the kernel gave up the clock tsc as unstable, by a check on CPU 17, as it and hpet differed by 436.9 us over 503.0 ms. \
                       Which of the clocks was wrong, or whether the machine stood still, is not shown. It reads the time from hpet since then, \
                       which is slow: each reading of the clock costs much more, in programs and in traces";
        assert_eq!(clock.meaning().as_deref(), Some(meaning));
    }

    #[test]
    fn a_skipped_check_counts_where_no_clock_was_given_up() {
        let skipped = "clocksource: timekeeping watchdog on CPU2: hpet wd-wd read-back delay of 120456ns";
        let mut clock = UnstableClock::default();
        assert!(clock.line(skipped));
        assert!(clock.meaning().is_some_and(|text| text.contains("found no clock unstable")));
        let marked = "clocksource: timekeeping watchdog on CPU3: hpet read-back delay of 67600ns, attempt 4, marking unstable";
        assert!(clock.line(marked));
        assert_eq!(clock.meaning(), None);
        assert!(clock.line("tsc: Marking TSC unstable due to clocksource watchdog"));
        assert!(clock.meaning().is_some_and(|text| {
            text.starts_with("the kernel gave up the clock tsc as unstable, by a check on CPU 3")
        }));
    }

    #[test]
    fn a_fast_clock_is_not_called_slow() {
        let mut clock = UnstableClock::default();
        assert!(clock.line("tsc: Marking TSC unstable due to check_tsc_sync_source failed"));
        assert!(clock.line("clocksource: Switched to clocksource kvm-clock"));
        assert!(
            clock.meaning().is_some_and(|text| text.ends_with("It reads the time from kvm-clock since then"))
        );
        assert!(!clock.line("clocksource: other"));
    }
}
