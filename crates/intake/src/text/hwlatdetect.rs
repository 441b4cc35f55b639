//! What `hwlatdetect` of rt-tests prints.
//!
//! ```text
//! hwlatdetect:  test duration 120 seconds
//!         Latency threshold: 10us
//! Starting test
//! test finished
//! Max Latency: 84us                       or `Below threshold`
//! Samples exceeding threshold: 1
//! SMIs during run: 0
//! ts: 1499801089.066141940, inner:84, outer:0
//! ```
//!
//! Guides comment the lines out: `# Max Latency: 84us`.
//!
//! Facts: src/hwlatdetect/hwlatdetect.py of rt-tests.

use super::fields;
use crate::pasted::uncommented_line;
use whylate_base::{Cpu, Ns};
use whylate_events::{Breakdown, BreakdownPart, PartKind, Tool};

/// How its lines begin.
const LINES: [&str; 15] = [
    "hwlatdetect:",
    "detector:",
    "parameters:",
    "CPU list:",
    "Latency threshold:",
    "Sample window:",
    "Sample width:",
    "Non-sampling period:",
    "Output File:",
    "Starting test",
    "test finished",
    "Samples recorded:",
    "Samples exceeding threshold:",
    "report saved to ",
    "ts:",
];

/// A report that is being read.
#[derive(Default)]
pub(crate) struct Hwlatdetect {
    has_begun: bool,
    /// For how long it measured.
    duration: Option<Ns>,
    /// The longest gap of the samples that are listed, above `Max Latency` in some versions.
    sampled: Ns,
    /// The report, once its largest latency was read.
    found: Option<Breakdown>,
}

impl Hwlatdetect {
    /// Takes a line of the report in; false where it is none.
    pub(crate) fn takes(&mut self, number: u64, line: &str, breakdowns: &mut Vec<Breakdown>) -> bool {
        let (is_of_report, found) = self.line(number, line);
        if let Some(found) = found {
            breakdowns.retain(|other| other.tool != found.tool || other.line != found.line);
            breakdowns.push(found);
        }
        is_of_report
    }

    /// Takes a line: whether it is one of the report, and what the report says so far of the largest latency; a later
    /// answer takes the place of an earlier one of the same line.
    fn line(&mut self, number: u64, line: &str) -> (bool, Option<Breakdown>) {
        let line = uncommented_line(line).map_or(line, fields::trim);
        if let Some(about) = line.strip_prefix("hwlatdetect:") {
            let seconds = about.split_once("test duration").map(|(_, seconds)| fields::first_word(seconds));
            let seconds = seconds.and_then(fields::decimal).and_then(|seconds| i64::try_from(seconds).ok());
            let duration = seconds.and_then(|seconds| seconds.checked_mul(1_000_000_000)).map(Ns);
            *self = Hwlatdetect { has_begun: true, duration, ..Hwlatdetect::default() };
            return (true, None);
        }
        if !self.has_begun {
            return (false, None);
        }
        if let Some(smis) = line.strip_prefix("SMIs during run:").map(fields::trim) {
            let count = fields::decimal(smis).and_then(|count| u32::try_from(count).ok());
            let (Some(found), Some(count)) = (&mut self.found, count) else { return (count.is_some(), None) };
            found.parts.push(part(PartKind::Smi, Some(count), Ns::ZERO));
            return (true, Some(found.clone()));
        }
        if let Some(gap) = sample(line) {
            self.sampled = self.sampled.max(gap);
            let Some(found) = self.found.as_mut().filter(|found| found.total < gap) else {
                return (true, None);
            };
            found.total = gap;
            return (true, Some(found.clone()));
        }
        let Some(largest) = line.strip_prefix("Max Latency:").map(fields::trim) else {
            return (LINES.iter().any(|&begin| line.starts_with(begin)), None);
        };
        // Guides write remarks behind it.
        let us = largest
            .split_once("us")
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with(char::is_whitespace));
        let us = us.and_then(|(us, _)| fields::decimal(fields::trim(us)));
        let total = match us.and_then(|us| i64::try_from(us).ok()?.checked_mul(1_000)) {
            Some(ns) => Ns(ns),
            None if largest == "Below threshold" => Ns::ZERO,
            None => return (false, None),
        };
        let parts =
            self.duration.map(|duration| part(PartKind::Measured, None, duration)).into_iter().collect();
        let (cpu, tool) = (Cpu::UNKNOWN, Tool::Hwlatdetect);
        let total = total.max(self.sampled);
        self.found = Some(Breakdown { tool, cpu, total, parts, stack: vec![], line: number });
        (true, self.found.clone())
    }
}

/// The longer of a sample's two gaps: `ts: 1499801089.066141940, inner:84, outer:0`, whatever a page has before it.
fn sample(line: &str) -> Option<Ns> {
    let (_, gaps) = line.split_once("ts:").and_then(|(_, sample)| sample.split_once(", inner:"))?;
    let (inner, outer) = gaps.split_once(", outer:")?;
    let us =
        |text: &str| i64::try_from(fields::decimal(text.split([',', ' ']).next()?)?).ok()?.checked_mul(1_000);
    Some(Ns(us(inner)?.max(us(outer)?)))
}

fn part(kind: PartKind, id: Option<u32>, time: Ns) -> BreakdownPart {
    BreakdownPart { kind, name: String::new(), id, time, is_sum: false }
}

#[cfg(test)]
mod tests {
    use super::Hwlatdetect;
    use whylate_base::Ns;

    /// The largest latency of a report of these lines below its head.
    fn largest(lines: &[&str]) -> Ns {
        let (mut report, mut breakdowns) = (Hwlatdetect::default(), vec![]);
        for (at, line) in ["hwlatdetect:  test duration 60 seconds"].iter().chain(lines).enumerate() {
            assert!(report.takes(at as u64, line, &mut breakdowns), "{line}");
        }
        assert_eq!(breakdowns.len(), 1);
        breakdowns[0].total
    }

    #[test]
    fn a_sample_above_the_largest_latency_counts() {
        let above = ["Starting tests:1700.5, inner:21, outer:33", "ts: 1701.5, inner:30, outer:12"];
        assert_eq!(largest(&[above[0], above[1], "Max Latency: 30us"]), Ns::from_us(33));
        assert_eq!(largest(&["Max Latency: 30us", above[0], above[1]]), Ns::from_us(33));
        assert_eq!(largest(&["Max Latency: 41us", above[0]]), Ns::from_us(41));
    }
}
