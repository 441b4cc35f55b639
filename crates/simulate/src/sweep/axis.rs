//! `--sweep KEY=VALUES`: a setting, and the values that it takes.

use crate::change::WrittenChange;
use whylate_base::{Ns, parse_duration};

/// More combinations are refused.
pub const MOST_COMBINATIONS: usize = 10_000;

/// A setting with the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxis {
    /// The setting: `ctl.priority`.
    pub key: String,
    /// A change for each value.
    pub changes: Vec<WrittenChange>,
    /// The values as they are shown: `60`.
    pub values: Vec<String>,
}

impl SweepAxis {
    /// Of `--sweep`: `ctl.offset=0..4ms/250us`, `ctl.priority=10..90/10`, `ctl.cpus=0,1,2-3`, `throttling=on,off`.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(text: &str) -> Result<SweepAxis, String> {
        let (key, list) = text
            .split_once('=')
            .ok_or_else(|| "write it as KEY=VALUES, such as ctl.priority=10..90/10".to_owned())?;
        let (key, list) = (key.trim(), list.trim());
        let what = key.rsplit_once('.').map_or(key, |(_, what)| what);
        let mut axis = SweepAxis { key: key.to_owned(), changes: Vec::new(), values: Vec::new() };
        for item in list.split(',').map(str::trim) {
            if item.is_empty() {
                return Err(format!("`{list}` has an empty value"));
            }
            for value in expand(what, item)? {
                // CPUs of one value are joined by `+`, because the comma is between values.
                let written = if what == "cpus" { value.replace('+', ",") } else { value.clone() };
                let change = WrittenChange::set(&format!("{key}={written}"))?;
                if !axis.changes.contains(&change) {
                    axis.changes.push(change);
                    axis.values.push(value);
                }
                if axis.values.len() > MOST_COMBINATIONS {
                    return Err(too_many());
                }
            }
        }
        Ok(axis)
    }
}

fn too_many() -> String {
    format!("it has more than {MOST_COMBINATIONS} values: take a larger step")
}

/// `0..4ms/250us`, `10..90/10`, `0..3`; both ends belong to it. Anything else is one value.
fn expand(what: &str, item: &str) -> Result<Vec<String>, String> {
    let Some((first, rest)) = item.split_once("..") else { return Ok(vec![item.to_owned()]) };
    let (last, step) = match rest.split_once('/') {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let is_time = what == "offset";
    let number = |text: &str| -> Result<i64, String> {
        let text = text.trim();
        match is_time {
            true if text == "0" => Ok(0),
            true => parse_duration(text).map(|time| time.0).map_err(|error| format!("`{item}`: {error}")),
            false => text.parse().map_err(|_| format!("`{item}`: `{text}` is not a number")),
        }
    };
    if !matches!(what, "offset" | "priority" | "nice" | "cpus") && !what.starts_with("sched_rt_") {
        return Err(format!("`{item}`: {what} has no ranges; list the values: {what}=A,B"));
    }
    let (first, last) = (number(first)?, number(last)?);
    let step = match step {
        Some(step) => number(step)?,
        None if is_time => return Err(format!("`{item}` has no step: write it like 0..4ms/250us")),
        None => 1,
    };
    if step <= 0 {
        return Err(format!("`{item}`: the step must be more than zero"));
    }
    if first > last {
        return Err(format!("`{item}` is empty: its first value is larger than its last"));
    }
    let count = last.abs_diff(first) / step.unsigned_abs() + 1;
    if count > MOST_COMBINATIONS as u64 {
        return Err(too_many());
    }
    let values = (0..count as i64).map(|nth| first + nth * step);
    Ok(values.map(|value| if is_time { time(Ns(value)) } else { value.to_string() }).collect())
}

/// Exactly, in the largest unit that takes no fraction.
fn time(value: Ns) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
    match units.iter().find(|(length, _)| value.0 != 0 && value.0 % length == 0) {
        Some((length, unit)) => format!("{}{unit}", value.0 / length),
        None => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ranges_and_lists() {
        for (text, values) in [
            ("ctl.offset=0..1ms/250us", vec!["0", "250us", "500us", "750us", "1ms"]),
            ("ctl.offset=1s..3s/1500ms", vec!["1s", "2500ms"]),
            ("ctl.priority=10..90/40", vec!["10", "50", "90"]),
            ("ctl.priority=1,5,1,98..99", vec!["1", "5", "98", "99"]),
            ("ctl.cpus=0,2-3,0+2", vec!["0", "2-3", "0+2"]),
            ("ctl.cpus=0..2", vec!["0", "1", "2"]),
            ("ctl.nice=-2..2/2", vec!["-2", "0", "2"]),
            ("throttling=on,off", vec!["on", "off"]),
            ("sched_rt_runtime_us=900000..950000/50000", vec!["900000", "950000"]),
        ] {
            let axis = SweepAxis::parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
            assert_eq!(axis.values, values, "{text}");
            assert_eq!(axis.changes.len(), values.len());
        }
        let axis = SweepAxis::parse("ctl.cpus=0+2").expect("CPUs");
        assert_eq!(axis.changes[0].text, "--set ctl.cpus=0,2");
    }

    #[test]
    fn what_is_no_sweep_is_refused_with_the_reason() {
        for (text, named) in [
            ("ctl.offset", "KEY=VALUES"),
            ("ctl.offset=", "empty"),
            ("ctl.offset=0..4ms", "no step"),
            ("ctl.offset=4ms..1ms/1ms", "is empty"),
            ("ctl.offset=0..4ms/0", "more than zero"),
            ("ctl.offset=0..100s/1us", "more than 10000"),
            ("ctl.priority=90..110/10", "1 to 99"),
            ("ctl.priority=a..b", "not a number"),
            ("ctl.priority=1..9223372036854775807", "more than 10000"),
            ("ctl.colour=1..2", "no ranges"),
            ("ctl.policy=fifo..rr", "no ranges"),
        ] {
            let wrong = SweepAxis::parse(text).expect_err(text);
            assert!(wrong.contains(named), "{text}: {wrong}");
        }
    }
}
