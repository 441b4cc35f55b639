//! When something was done: seconds of the wall clock, for people. And instants of a boot, for what must come however
//! that clock is set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use whylate_base::gregorian_date;
use whylate_sys::Clock;

/// Seconds since 1970-01-01 00:00:00 UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The wall clock's time.
    pub fn now() -> Timestamp {
        Timestamp::of(SystemTime::now())
    }

    /// Of a file's time stamp.
    pub fn of(time: SystemTime) -> Timestamp {
        let seconds = |duration: std::time::Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Timestamp(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => seconds(since),
            Err(before) => -seconds(before.duration()),
        })
    }
}

/// An instant of a boot of the running kernel, by the clock that runs on in suspend and that no program sets
/// (CLOCK_BOOTTIME, clock_gettime(2)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootInstant {
    /// The boot (random(4)).
    pub boot_id: String,
    /// Milliseconds since it began.
    pub ms: u64,
}

impl BootInstant {
    /// Now; `None`: the kernel's boot cannot be determined.
    pub fn now() -> Option<BootInstant> {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        Some(BootInstant { boot_id, ms: whylate_sys::now(Clock::Boottime).0.unsigned_abs() / 1_000_000 })
    }

    /// So long after this.
    #[must_use]
    pub fn after(self, duration: std::time::Duration) -> BootInstant {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        BootInstant { ms: self.ms.saturating_add(ms), ..self }
    }
}

/// `2026-11-20 19:24:25 UTC`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(86_400), self.0.rem_euclid(86_400));
        let (year, month, day) = gregorian_date(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_dates() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (1_735_689_600, "2025-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(Timestamp(seconds).to_string(), text);
        }
    }
}
