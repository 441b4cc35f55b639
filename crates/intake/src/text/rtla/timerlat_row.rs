//! A row of the table of `rtla timerlat top` (tools/tracing/rtla/src/timerlat_top.c): of a CPU, or of all of them.
//!
//! ```text
//!  23 #12320     |       28         0         1        28 |       41         3        11        41
//! ALL #24638  e0 |                  0         1        28 |                  3        11        41
//! ```
//!
//! A stage of the wake-up (the interrupt, the thread, with `-u` the return to user space) has its current, least, mean and largest
//! latency, in the unit of the table; one without a sample has dashes.

use crate::text::fields::{self, decimal};
use whylate_base::Cpu;

/// See the module.
#[derive(Debug, PartialEq)]
pub(crate) struct TimerlatRow {
    /// `None`: the row is of all CPUs.
    pub(crate) cpu: Option<Cpu>,
    /// Samples.
    pub(crate) count: u64,
    pub(crate) stages: Vec<StageCell>,
}

/// What a row has of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StageCell {
    Latencies(StageLatencies),
    NoSample,
    /// A number is missing, or is none.
    Broken,
}

/// The latencies of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StageLatencies {
    pub(crate) min: u64,
    /// `None` where it is not known. That of all CPUs is wrong where many were measured for long: older versions add up in 32 bits.
    pub(crate) mean: Option<u64>,
    pub(crate) max: u64,
}

impl TimerlatRow {
    /// Reads a line; `None` where it is no row.
    pub(crate) fn of(line: &str) -> Option<TimerlatRow> {
        let mut cells = line.split('|');
        let mut words = cells.next()?.split_ascii_whitespace();
        let first = words.next()?;
        let count = words.next()?.strip_prefix('#').and_then(decimal)?;
        let cpu = match first {
            "ALL" => None,
            cpu => Some(fields::cpu_from(cpu)?),
        };
        let stages = cells.map(|cell| StageCell::of(cell, cpu.is_none())).collect();
        Some(TimerlatRow { cpu, count, stages })
    }

    /// What it has of a stage.
    pub(crate) fn stage(&self, stage: usize) -> Option<StageLatencies> {
        match self.stages.get(stage) {
            Some(StageCell::Latencies(latencies)) => Some(*latencies),
            _ => None,
        }
    }

    /// The largest latency of any stage.
    pub(crate) fn max(&self) -> Option<u64> {
        (0..self.stages.len()).filter_map(|stage| self.stage(stage)).map(|stage| stage.max).max()
    }
}

impl StageCell {
    fn of(cell: &str, is_of_all: bool) -> StageCell {
        let mut words = cell.split_ascii_whitespace();
        if !is_of_all {
            words.next();
        }
        let words = [words.next(), words.next(), words.next()];
        if let [Some("-"), _, Some("-")] = words {
            return StageCell::NoSample;
        }
        match words.map(|word| word.and_then(decimal)) {
            [Some(min), Some(mean), Some(max)] => {
                let mean = Some(mean).filter(|_| !is_of_all);
                StageCell::Latencies(StageLatencies { min, mean, max })
            }
            _ => StageCell::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(min: u64, mean: Option<u64>, max: u64) -> StageCell {
        StageCell::Latencies(StageLatencies { min, mean, max })
    }

    #[test]
    fn rows_whole_and_cut() {
        let row = |cpu, count, stages: &[StageCell]| {
            Some(TimerlatRow { cpu: Option::map(cpu, Cpu), count, stages: stages.to_vec() })
        };
        let thread = latencies(3, Some(11), 41);
        for (line, expected) in [
            (
                "23 #12320     |  28  0  1  28 |  41  3  11  41",
                row(Some(23), 12_320, &[latencies(0, Some(1), 28), thread]),
            ),
            (
                "23 #12320 | - - - - | 41 3 11 41 | 2 2 2 2",
                row(Some(23), 12_320, &[StageCell::NoSample, thread, latencies(2, Some(2), 2)]),
            ),
            (
                "23 #12320 | 28 0 1 28 | 41 3 11",
                row(Some(23), 12_320, &[latencies(0, Some(1), 28), StageCell::Broken]),
            ),
            ("23 #12320 | 28 0 x 28", row(Some(23), 12_320, &[StageCell::Broken])),
            // A remark behind it.
            ("23 #12320 | 41 3 11 41 <-- here", row(Some(23), 12_320, &[thread])),
            ("23 #12320", row(Some(23), 12_320, &[])),
            (
                "ALL #24638  e0 | 0 1 28 | 3 11 41",
                row(None, 24_638, &[latencies(0, None, 28), latencies(3, None, 41)]),
            ),
            ("CPU COUNT      |      cur       min       avg       max", None),
            ("23 12320 | 28 0 1 28", None),
            ("x #12320 | 28 0 1 28", None),
            ("", None),
        ] {
            assert_eq!(TimerlatRow::of(line), expected, "{line}");
        }
        assert_eq!(TimerlatRow::of("2 #9 | - - - - | 41 3 11 41").and_then(|row| row.max()), Some(41));
    }
}
