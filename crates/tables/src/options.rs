//! What an import takes over, and as what.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};
use whylate_base::gregorian_date;
use whylate_ledger::Options;

/// Where a run's partition date is from, where its content has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DateSource {
    /// It stays unknown.
    #[default]
    Content,
    /// This day, as YYYY-MM-DD.
    Day(String),
    /// The day on which the file was last changed.
    FileTime,
}

impl DateSource {
    /// Today, by UTC.
    pub fn today() -> DateSource {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        DateSource::Day(day(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)))
    }
}

/// A day.
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;

/// The day (UTC) of an instant since 1970, as YYYY-MM-DD.
pub(crate) fn day(unix_ns: i64) -> String {
    let (year, month, day) = gregorian_date(unix_ns.div_euclid(DAY_NS));
    format!("{year:04}-{month:02}-{day:02}")
}

/// Where a machine's name is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MachineSource {
    /// The content, as far as it has one.
    #[default]
    Content,
    /// This name.
    Name(String),
    /// The directory that the input is in.
    Directory,
}

/// What an import takes over, and as what.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// What is explained of a recording. `worst` activations of each thread have rows, and with a deadline also those that
    /// miss it, up to [`MOST_LATE`].
    pub explain: Options,
    /// Every activation has rows.
    pub all: bool,
    /// The machines' names.
    pub machine: MachineSource,
    /// The key by which machines' names are replaced by a hash of them.
    pub hide_names: Option<Vec<u8>>,
    /// The partitions' dates.
    pub date: DateSource,
}

/// Activations of a thread that miss the deadline and are kept whole.
pub const MOST_LATE: usize = 1_000;

/// A day as YYYY-MM-DD, or `mtime`.
impl FromStr for DateSource {
    type Err = String;

    fn from_str(text: &str) -> Result<DateSource, String> {
        if text == "mtime" {
            return Ok(DateSource::FileTime);
        }
        let number = |text: Option<&str>, digits: usize| {
            let all_digits =
                |text: &&str| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
            text.filter(all_digits).and_then(|text| text.parse::<u32>().ok())
        };
        let mut parts = text.split('-');
        match (number(parts.next(), 4), number(parts.next(), 2), number(parts.next(), 2), parts.next()) {
            (Some(_), Some(1..=12), Some(1..=31), None) => Ok(DateSource::Day(text.to_owned())),
            _ => Err(format!("`{text}` is no day: give one such as 2026-11-24, or mtime")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (1_709_164_799, "2024-02-28"),
            (1_709_164_800, "2024-02-29"),
            (4_102_444_800, "2100-01-01"),
        ] {
            assert_eq!(day(seconds * 1_000_000_000), expected);
        }
    }

    #[test]
    fn a_day_is_one_of_the_calendar_or_the_files() {
        assert_eq!("2026-11-24".parse(), Ok(DateSource::Day("2026-11-24".to_owned())));
        assert_eq!("mtime".parse(), Ok(DateSource::FileTime));
        for bad in ["", "2026", "2026-13-01", "2026-1-1", "2026-11-24-1", "../../x", "20261124"] {
            assert!(bad.parse::<DateSource>().is_err(), "{bad}");
        }
    }
}
