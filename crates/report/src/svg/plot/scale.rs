//! Axes: where a value lies, and which round values are written.

use crate::words;
use whylate_base::Ns;

/// Room that a label's character takes.
pub(super) const CHARACTER: f64 = 6.6;
/// And one of a bold name, in capitals and digits for the most part.
pub(super) const BOLD: f64 = 8.0;
/// Between two labels.
const APART: f64 = 12.0;
const LINE: f64 = 15.0;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nanoseconds, written in the unit that fits.
    Latency,
    /// How many.
    Count,
    /// A share, 1 for all.
    Share,
    /// Nanoseconds from the beginning, in seconds, minutes, hours.
    Time,
}

/// An axis; all are logarithmic but that of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    unit: Unit,
    from: f64,
    to: f64,
}

/// A round value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    /// Empty: a line, without its number.
    pub(super) label: String,
}

impl Axis {
    /// At least a factor of two wide (time: a nanosecond), so that a single value is not all there is to see.
    pub(super) fn new(unit: Unit, from: f64, to: f64) -> Axis {
        match unit {
            Unit::Time => Axis { unit, from, to: to.max(from + 1.0) },
            Unit::Latency | Unit::Count => {
                let from = from.max(0.5);
                Axis { unit, from, to: to.max(from * 2.0) }
            }
            Unit::Share => {
                let from = from.max(1e-18);
                Axis { unit, from, to: to.max(from * 2.0) }
            }
        }
    }

    /// Where a value lies, 0 to 1; beyond the ends, at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let at = match self.unit {
            Unit::Time => (value - self.from) / (self.to - self.from),
            _ => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
        };
        at.clamp(0.0, 1.0)
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// Round values for an axis of so many units of the drawing, with as many numbers as have room.
    pub(super) fn ticks(&self, length: f64, is_upright: bool) -> Vec<Tick> {
        let room = |tick: &Tick| match is_upright {
            true => LINE,
            false => tick.label.chars().count() as f64 * CHARACTER + APART,
        };
        let fits = |ticks: &[Tick]| {
            let pair = |pair: &[Tick]| {
                let apart = (self.at(pair[1].value) - self.at(pair[0].value)) * length;
                apart >= (room(&pair[0]) + room(&pair[1])) / 2.0
            };
            ticks.windows(2).all(pair)
        };
        if self.unit == Unit::Time {
            let all =
                TIMES.iter().map(|&step| self.steps(step)).find(|ticks| ticks.len() <= 12 && fits(ticks));
            return all.unwrap_or_default();
        }
        let written = (0..20).map(|sparse| self.rounds(sparse)).find(|ticks| fits(ticks)).unwrap_or_default();
        let mut ticks = self.rounds(0);
        let is_crowded = ticks.len() as f64 * 5.0 > length;
        if is_crowded {
            ticks = self.rounds(1);
        }
        for tick in &mut ticks {
            if !written.iter().any(|other| other.value == tick.value) {
                tick.label.clear();
            }
        }
        ticks
    }

    /// 1, 2 and 5 times each power of ten; of a higher `sparse`, each, every second, third ... power alone.
    fn rounds(&self, sparse: i32) -> Vec<Tick> {
        let times: &[f64] = if sparse == 0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let powers = (-18..19).filter(|power| sparse < 2 || power % sparse == 0);
        powers
            .flat_map(|power| times.iter().map(move |times| (*times, power)))
            .map(|(times, power)| (times * 10_f64.powi(power), times, power))
            .filter(|(value, ..)| self.from * (1.0 - 1e-9) <= *value && *value <= self.to * (1.0 + 1e-9))
            .map(|(value, times, power)| Tick { value, label: self.label(value, times, power) })
            .collect()
    }

    fn label(&self, value: f64, times: f64, power: i32) -> String {
        match self.unit {
            Unit::Latency if value < 1.0 => String::new(),
            Unit::Latency => round(Ns(value.round() as i64)),
            Unit::Count if value < 1.0 => String::new(),
            Unit::Count if value < 10_000.0 => words::count(value.round() as u64),
            Unit::Share if value >= 0.00099 => format!("{}", (value * 1_000.0).round() / 1_000.0),
            _ if times == 1.0 => format!("10{}", raised(power)),
            _ => format!("{times}·10{}", raised(power)),
        }
    }

    fn steps(&self, step: i64) -> Vec<Tick> {
        let step = step as f64;
        let first = (self.from / step).ceil();
        (0..41)
            .map(|at| (first + f64::from(at)) * step)
            .take_while(|value| *value <= self.to)
            .map(|value| Tick { value, label: clock(value as i64) })
            .collect()
    }
}

const MINUTE: i64 = 60_000_000_000;
/// Steps that a clock has.
const TIMES: [i64; 38] = [
    1_000,
    10_000,
    100_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
    20_000_000_000,
    30_000_000_000,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    60 * MINUTE,
    2 * 60 * MINUTE,
    3 * 60 * MINUTE,
    6 * 60 * MINUTE,
    12 * 60 * MINUTE,
    24 * 60 * MINUTE,
    2 * 24 * 60 * MINUTE,
    7 * 24 * 60 * MINUTE,
    30 * 24 * 60 * MINUTE,
    365 * 24 * 60 * MINUTE,
    10 * 365 * 24 * 60 * MINUTE,
    30 * 365 * 24 * 60 * MINUTE,
    100 * 365 * 24 * 60 * MINUTE,
    150 * 365 * 24 * 60 * MINUTE,
];

/// A time from the beginning, in the largest unit that it is a round number of.
pub(super) fn clock(ns: i64) -> String {
    const DAY: i64 = 24 * 60 * MINUTE;
    match ns {
        0 => "0".to_owned(),
        ns if ns % DAY == 0 => format!("{} d", ns / DAY),
        ns if ns % (60 * MINUTE) == 0 => format!("{} h", ns / (60 * MINUTE)),
        ns if ns % MINUTE == 0 => format!("{} min", ns / MINUTE),
        ns if ns >= 1_000_000_000 => format!("{} s", ns as f64 / 1e9),
        ns => round(Ns(ns)),
    }
}

/// A round latency: `20 us`.
pub(super) fn round(tick: Ns) -> String {
    match tick.0 {
        ns @ ..1_000 => format!("{ns} ns"),
        ns @ 1_000..1_000_000 => format!("{} us", ns / 1_000),
        ns @ 1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        ns => format!("{} s", ns / 1_000_000_000),
    }
}

/// A power as it is written above the line.
pub(super) fn raised(power: i32) -> String {
    let digit = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32('⁰' as u32 + (digit as u32 - '0' as u32)).unwrap_or(digit),
        other => other,
    };
    power.to_string().chars().map(digit).collect()
}

/// A digit of a power as it is written on the line; `None` of everything else.
pub(super) fn lowered(c: char) -> Option<char> {
    match c {
        '⁻' => Some('\u{2212}'),
        '¹' => Some('1'),
        '²' => Some('2'),
        '³' => Some('3'),
        '⁰' | '⁴'..='⁹' => char::from_digit(c as u32 - '⁰' as u32, 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: Axis, length: f64, is_upright: bool) -> Vec<String> {
        let ticks = axis.ticks(length, is_upright);
        ticks.into_iter().map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn what_is_written_is_round() {
        let latency = Axis::new(Unit::Latency, 1_500.0, 120_000.0);
        assert_eq!(labels(latency, 800.0, false), ["2 us", "5 us", "10 us", "20 us", "50 us", "100 us"]);
        assert_eq!(labels(latency, 150.0, false), ["10 us", "100 us"]);
        let share = Axis::new(Unit::Share, 1e-7, 1.0);
        assert_eq!(labels(share, 200.0, true), ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(Axis::new(Unit::Count, 0.7, 300.0), 40.0, true), ["1", "10", "100"]);
        let night = Axis::new(Unit::Time, 0.0, 9.0 * 3_600e9);
        assert_eq!(labels(night, 200.0, false), ["0", "2 h", "4 h", "6 h", "8 h"]);
        assert_eq!(labels(Axis::new(Unit::Time, 0.0, 3e9), 300.0, false)[..3], ["0", "500 ms", "1 s"]);
    }

    proptest! {
        #[test]
        fn numbers_never_overlap(
            from in 1e-3f64..1e9, factor in 1.0f64..1e12, length in 10.0f64..1_000.0, upright: bool, unit in 0usize..4,
        ) {
            let unit = [Unit::Latency, Unit::Count, Unit::Share, Unit::Time][unit];
            let axis = Axis::new(unit, from, from * factor);
            let ticks = axis.ticks(length, upright);
            let written: Vec<&Tick> = ticks.iter().filter(|tick| !tick.label.is_empty()).collect();
            for pair in written.windows(2) {
                let apart = (axis.at(pair[1].value) - axis.at(pair[0].value)) * length;
                let half = |tick: &Tick| tick.label.chars().count() as f64 * CHARACTER / 2.0;
                let needed = if upright { LINE } else { half(pair[0]) + half(pair[1]) };
                prop_assert!(apart >= needed, "{apart} < {needed}: {ticks:?}");
            }
        }
    }
}
