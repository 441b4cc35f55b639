//! The histograms of `latency -h`. `avg` is the one of all samples; `min` and `max` are of the extremes of each second.
//!
//! A class is `-B` nanoseconds wide, 1000 where that is not given, and the line has only its number. The sign of a sample is
//! lost, and the last class holds all that is later, too (`add_histogram` in latency.c). Neither width nor number of classes
//! is in the file: minimum and maximum of the line RTS show whether they are the usual ones.

use super::super::counted::Counted;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How wide a class is in nanoseconds.
const WIDTH: u64 = 1000;

#[derive(Default)]
pub(super) struct Tables {
    min: BTreeMap<u64, u64>,
    avg: BTreeMap<u64, u64>,
    max: BTreeMap<u64, u64>,
    /// How many samples `avg` holds, by the line HSS.
    total: Option<i64>,
    /// How many seconds were whole, by the line HSS of `max`.
    seconds: Option<u64>,
}

impl Tables {
    /// `HSD|    avg|   3 -  4 |     1204`, `HSS|    avg|    599943|      2.200|      1.460`.
    ///
    /// # Errors
    /// If a line is not whole: a class that is left out may be the latest.
    pub(super) fn of(text: &str) -> Result<Tables, String> {
        let mut tables = Tables::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            match fields[..] {
                ["HSD", kind, range, count] => {
                    let class = range.split_once('-').and_then(|(class, _)| class.trim().parse::<u64>().ok());
                    let (Some(class), Ok(count)) = (class, count.parse::<u64>()) else {
                        return Err(format!("the line {line:?} is no class with its count"));
                    };
                    let table = match kind {
                        "min" => &mut tables.min,
                        "avg" => &mut tables.avg,
                        "max" => &mut tables.max,
                        _ => return Err(format!("the line {line:?} is of none of its histograms")),
                    };
                    let held = table.entry(class).or_insert(0u64);
                    *held = held.saturating_add(count);
                }
                ["HSD", ..] => return Err(format!("the line {line:?} is no class with its count")),
                ["HSS", "avg", total, ..] => tables.total = total.parse().ok(),
                ["HSS", "max", total, ..] => tables.seconds = total.parse().ok(),
                _ => {}
            }
        }
        Ok(tables)
    }

    fn held(&self) -> u64 {
        self.avg.values().copied().fold(0, u64::saturating_add)
    }

    /// How many samples there are; `None`: not known. It adds them up as an `int`.
    pub(super) fn samples(&self) -> Option<u64> {
        let held = self.held();
        match self.total? {
            total if held > i32::MAX as u64 && i64::from(held as u32 as i32) == total => Some(held),
            total => u64::try_from(total).ok().filter(|total| *total > 0),
        }
    }

    /// How many seconds were whole; `None`: not known.
    pub(super) fn seconds(&self) -> Option<u64> {
        self.seconds
    }

    /// True without a histogram of all samples.
    pub(super) fn is_empty(&self) -> bool {
        self.avg.is_empty()
    }

    /// Puts the classes into a thread whose extremes, in nanoseconds, are those of the line RTS; false: they cannot be used.
    ///
    /// # Errors
    /// If the largest latency is in none of the lines.
    pub(super) fn fill(
        &self,
        thread: &mut Counted,
        min: i64,
        max: i64,
        notes: &mut Vec<String>,
    ) -> Result<bool, String> {
        let (Some(&first), Some(&last)) = (keys(&self.avg).min(), keys(&self.avg).max()) else {
            return Ok(false);
        };
        let Some(overflow) = self.fits(min, max) else {
            notes.push(
                "its classes do not fit its minimum and maximum: lines are missing, or a class is not 1 us wide (-B, which is \
                 not in the file). They are not used"
                    .to_owned(),
            );
            return Ok(false);
        };
        thread.total = self.samples();
        thread.width = WIDTH;
        thread.classes =
            self.avg.iter().map(|(&class, &count)| (class.saturating_mul(WIDTH), count)).collect();
        thread.limit = last.saturating_add(1).saturating_mul(WIDTH);
        if let Some(class) = overflow {
            thread.classes.retain(|row| row.0 < class.saturating_mul(WIDTH));
            thread.overflow = self.avg.get(&class).copied().unwrap_or(0);
            thread.limit = class.saturating_mul(WIDTH);
        } else if last > positive(max) / WIDTH {
            if is_usual(last.saturating_add(1)) {
                return Err(format!(
                    "its largest latency came after the last whole second, which its line RTS ends with. It is in the class of \
                     {last} us, which may be the last one, and that holds all later samples, too: measure with more classes (-H)"
                ));
            }
            notes.push(format!(
                "the largest latency came after the last whole second, which its line RTS ends with: it is from its class, \
                 {last} us"
            ));
            (thread.max, thread.rounding) = (Some(last.saturating_mul(WIDTH)), WIDTH);
        }
        if first < positive(min) / WIDTH {
            (thread.min, thread.rounding) = (Some(first.saturating_mul(WIDTH)), WIDTH);
        }
        if min < 0 {
            notes.push(format!(
                "its classes up to {} us count early samples, too, as if they had been as late",
                us(min.saturating_neg())
            ));
        }
        Ok(true)
    }

    /// Whether classes of 1 us fit the extremes: the largest of a second's maxima is in the last class of `max`, or that class
    /// is the last of the table, which it returns. `None`: they do not.
    fn fits(&self, min: i64, max: i64) -> Option<Option<u64>> {
        self.samples()?;
        let (first, last) = (keys(&self.min).min()?, *keys(&self.max).max()?);
        if min >= 0 && *first != positive(min) / WIDTH {
            return None;
        }
        match (positive(max) / WIDTH).cmp(&last) {
            Ordering::Equal => Some(None),
            Ordering::Greater if is_usual(last.saturating_add(1)) => Some(Some(last)),
            Ordering::Greater | Ordering::Less => None,
        }
    }
}

fn keys(table: &BTreeMap<u64, u64>) -> impl Iterator<Item = &u64> {
    table.iter().filter(|row| *row.1 > 0).map(|row| row.0)
}

/// Numbers of classes that are given (`-H`): 200 or 300 where it is not.
fn is_usual(classes: u64) -> bool {
    classes.is_multiple_of(10) || classes.is_power_of_two()
}

/// Of nanoseconds; what is early is not late.
pub(super) fn positive(ns: i64) -> u64 {
    ns.max(0) as u64
}

/// Of nanoseconds.
pub(super) fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}
