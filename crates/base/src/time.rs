//! Time: signed nanoseconds, as instants of the trace clock and as durations alike.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// Nanoseconds: an instant of the trace clock, or the distance between two.
///
/// Signed, because a due time computed from a timer's expiry may lie before the first
/// event of a trace, and because a difference may go either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ns(pub i64);

impl Ns {
    /// Zero duration, or the clock's origin.
    pub const ZERO: Ns = Ns(0);
    /// The largest instant.
    pub const MAX: Ns = Ns(i64::MAX);

    /// From whole microseconds.
    pub const fn from_us(us: i64) -> Ns {
        Ns(us.saturating_mul(1_000))
    }

    /// From whole milliseconds.
    pub const fn from_ms(ms: i64) -> Ns {
        Ns(ms.saturating_mul(1_000_000))
    }

    /// From whole seconds.
    pub const fn from_secs(s: i64) -> Ns {
        Ns(s.saturating_mul(1_000_000_000))
    }

    /// In seconds, for ratios and display.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In microseconds, for ratios and display.
    pub fn as_us_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The distance to `earlier`, or zero if it lies later.
    pub fn since(self, earlier: Ns) -> Ns {
        Ns(self.0.saturating_sub(earlier.0).max(0))
    }
}

impl Add for Ns {
    type Output = Ns;
    fn add(self, other: Ns) -> Ns {
        Ns(self.0.saturating_add(other.0))
    }
}

impl Sub for Ns {
    type Output = Ns;
    fn sub(self, other: Ns) -> Ns {
        Ns(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Ns {
    fn add_assign(&mut self, other: Ns) {
        *self = *self + other;
    }
}

impl SubAssign for Ns {
    fn sub_assign(&mut self, other: Ns) {
        *self = *self - other;
    }
}

impl Neg for Ns {
    type Output = Ns;
    fn neg(self) -> Ns {
        Ns(self.0.saturating_neg())
    }
}

impl Sum for Ns {
    fn sum<I: Iterator<Item = Ns>>(iter: I) -> Ns {
        iter.fold(Ns::ZERO, Add::add)
    }
}

/// As a duration, in the usual unit: `850 ns`, `46.9 us`, `50.04 ms`, `1.000 s`.
impl fmt::Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        let (value, unit) = match ns {
            0..1_000 => return f.pad(&format!("{sign}{ns} ns")),
            // Up to where rounding would show a thousand of the unit.
            1_000..999_950 => (ns as f64 / 1e3, "us"),
            999_950..999_950_000 => (ns as f64 / 1e6, "ms"),
            _ => (ns as f64 / 1e9, "s"),
        };
        let digits = if unit == "s" {
            3
        } else if value < 100.0 {
            2
        } else {
            1
        };
        f.pad(&format!("{sign}{value:.digits$} {unit}"))
    }
}

/// The error for an invalid duration on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDurationError {
    text: String,
}

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a duration: write a number with ns, us, ms, s, min or h, such as 500us or 10s",
            self.text
        )
    }
}

impl std::error::Error for ParseDurationError {}

/// Reads a positive duration such as `500us`, `1.5ms`, `10s`, `2min` or `1h`.
///
/// A bare number is refused: cyclictest's options mean microseconds and sleep(1)'s mean
/// seconds, and a wrong guess here costs a night of measurement.
///
/// # Errors
/// [`ParseDurationError`] when there is no unit, no number, or the value does not fit.
pub fn parse_duration(text: &str) -> Result<Ns, ParseDurationError> {
    let error = || ParseDurationError { text: text.to_owned() };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(error)?;
    let (number, unit) = trimmed.split_at(split);
    let scale = match unit.trim() {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "s" | "sec" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        _ => return Err(error()),
    };
    let value: f64 = number.parse().map_err(|_| error())?;
    let ns = value * scale;
    if ns.is_finite() && ns < i64::MAX as f64 { Ok(Ns(ns.round() as i64)) } else { Err(error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_the_unit_one_would_say() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 us"),
            (331_000, "331.0 us"),
            (50_043_000, "50.04 ms"),
            (999_999, "1.00 ms"),
            (999_999_600, "1.000 s"),
            (1_000_000_000, "1.000 s"),
            (-2_000, "-2.00 us"),
        ] {
            assert_eq!(Ns(ns).to_string(), text);
        }
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(parse_duration("500us"), Ok(Ns(500_000)));
        assert_eq!(parse_duration("1.5ms"), Ok(Ns(1_500_000)));
        assert_eq!(parse_duration("10 s"), Ok(Ns::from_secs(10)));
        assert_eq!(parse_duration("2min"), Ok(Ns::from_secs(120)));
        for bad in ["", "10", "us", "1..5s", "-3s", "5 days", "9e99h", "99999999999999h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
