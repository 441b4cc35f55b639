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
//! ts: 1499801089.066141940, inner:84, outer:0, cpu:2        before rt-tests 2.0 without the CPU
//! ```
//!
//! With `--watch` the samples come as they are taken: a report that was cut before `Max Latency:` has its largest gap among them.
//! Guides comment the lines out: `# Max Latency: 84us`.
//!
//! Facts: src/hwlatdetect/hwlatdetect.py of rt-tests.

use super::fields;
use crate::pasted::uncommented_line;
use whylate_base::{Cpu, Ns};
use whylate_events::{Breakdown, BreakdownPart, PartKind, Tool};

/// How its lines begin.
const LINES: [&str; 13] = [
    "hwlatdetect:",
    "detector:",
    "parameters:",
    "CPU list:",
    "Sample window:",
    "Sample width:",
    "Non-sampling period:",
    "Output File:",
    "Starting test",
    "test finished",
    "Samples recorded:",
    "report saved to ",
    "ts:",
];

/// A report that is being read.
#[derive(Default)]
pub(crate) struct Hwlatdetect {
    has_begun: bool,
    /// For how long it measured.
    duration: Option<Ns>,
    /// Gaps shorter than this are not reported.
    threshold: Option<Ns>,
    /// The longest gap of the samples that are listed, above `Max Latency` in some versions, and its CPU.
    sampled: Option<(Ns, Cpu)>,
    /// How many samples are listed.
    samples: u32,
    /// The report, once its largest latency or a sample was read.
    found: Option<Breakdown>,
    /// `found` is of the samples alone.
    is_of_samples: bool,
}

impl Hwlatdetect {
    /// Takes a line of the report in; false where it is none.
    pub(crate) fn takes(&mut self, number: u64, line: &str, breakdowns: &mut Vec<Breakdown>) -> bool {
        let before = self.found.as_ref().filter(|_| self.is_of_samples).map(|found| found.line);
        let (is_of_report, found) = self.line(number, line);
        if let Some(found) = found {
            let is_earlier = |line: u64| line == found.line || Some(line) == before;
            breakdowns.retain(|other| other.tool != found.tool || !is_earlier(other.line));
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
        if let Some((gap, cpu)) = sample(line) {
            if self.sampled.is_none_or(|(longest, _)| gap > longest) {
                self.sampled = Some((gap, cpu));
            }
            self.samples = self.samples.saturating_add(1);
            if self.found.is_none() || self.is_of_samples {
                return (true, self.of_samples(number));
            }
            let is_it = |found: &Breakdown| {
                found.total < gap || found.total == gap && found.cpu == Cpu::UNKNOWN && cpu != Cpu::UNKNOWN
            };
            let Some(found) = self.found.as_mut().filter(|found| is_it(found)) else { return (true, None) };
            (found.total, found.cpu) = (gap, cpu);
            return (true, Some(found.clone()));
        }
        // Some pages lost the ends of lines: `parameters:Latency threshold: 10usSample window: 1000000us`.
        let threshold = line.strip_prefix("parameters:").map_or(line, fields::trim);
        if let Some(threshold) = threshold.strip_prefix("Latency threshold:") {
            let end = threshold.find("us").map_or(threshold.len(), |at| at + "us".len());
            self.threshold = threshold.get(..end).and_then(microseconds);
            return (true, None);
        }
        if let Some(count) = line.strip_prefix("Samples exceeding threshold:").map(fields::trim) {
            let count = fields::decimal(count).and_then(|count| u32::try_from(count).ok());
            let (Some(found), Some(count), Some(threshold)) = (&mut self.found, count, self.threshold) else {
                return (true, None);
            };
            found.parts.push(part(PartKind::AboveThreshold, Some(count), threshold));
            return (true, Some(found.clone()));
        }
        let Some(largest) = line.strip_prefix("Max Latency:").map(fields::trim) else {
            return (LINES.iter().any(|&begin| line.starts_with(begin)), None);
        };
        let total = match microseconds(largest) {
            Some(largest) => largest,
            None if largest == "Below threshold" => Ns::ZERO,
            None => return (false, None),
        };
        let sampled = self.sampled.filter(|&(longest, _)| longest >= total);
        let (total, cpu) = sampled.unwrap_or((total, Cpu::UNKNOWN));
        self.is_of_samples = false;
        self.found = Some(self.breakdown(number, total, cpu));
        (true, self.found.clone())
    }

    /// The report by its samples so far, the first of which stands in the line `number` if there was none before it.
    fn of_samples(&mut self, number: u64) -> Option<Breakdown> {
        let (longest, cpu) = self.sampled?;
        let first = self.found.as_ref().map_or(number, |found| found.line);
        let mut found = self.breakdown(first, longest, cpu);
        let above =
            self.threshold.map(|threshold| part(PartKind::AboveThreshold, Some(self.samples), threshold));
        found.parts.extend(above);
        self.is_of_samples = true;
        self.found = Some(found.clone());
        Some(found)
    }

    fn breakdown(&self, line: u64, total: Ns, cpu: Cpu) -> Breakdown {
        let measured = self.duration.map(|duration| part(PartKind::Measured, None, duration));
        let parts = measured.into_iter().collect();
        Breakdown { parts, ..Breakdown::new(Tool::Hwlatdetect, cpu, total, line) }
    }
}

/// The longer of a sample's two gaps, and its CPU: `ts: 1499801089.066141940, inner:84, outer:0, cpu:2`, whatever a page has
/// before it.
fn sample(line: &str) -> Option<(Ns, Cpu)> {
    let (_, gaps) = line.split_once("ts:").and_then(|(_, sample)| sample.split_once(", inner:"))?;
    let (inner, rest) = gaps.split_once(", outer:")?;
    let number = |text: &str| fields::decimal(text.split([',', ' ']).next()?);
    let us = |text: &str| i64::try_from(number(text)?).ok()?.checked_mul(1_000);
    let cpu = rest.split_once(", cpu:").and_then(|(_, cpu)| u32::try_from(number(cpu)?).ok());
    Some((Ns(us(inner)?.max(us(rest)?)), cpu.map_or(Cpu::UNKNOWN, Cpu)))
}

/// `84us`, behind which guides write remarks.
fn microseconds(text: &str) -> Option<Ns> {
    let (us, rest) = fields::trim(text).split_once("us")?;
    let is_alone = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let us = fields::decimal(fields::trim(us)).filter(|_| is_alone)?;
    i64::try_from(us).ok()?.checked_mul(1_000).map(Ns)
}

fn part(kind: PartKind, id: Option<u32>, time: Ns) -> BreakdownPart {
    BreakdownPart { kind, name: String::new(), id, time, is_sum: false }
}

#[cfg(test)]
mod tests {
    use super::Hwlatdetect;
    use whylate_base::{Cpu, Ns};
    use whylate_events::PartKind;

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
    fn the_longest_sample_names_the_cpu() {
        let (mut report, mut breakdowns) = (Hwlatdetect::default(), vec![]);
        let head = ["hwlatdetect:  test duration 60 seconds", "Latency threshold: 10us", "Max Latency: 33us"];
        let samples = [
            "Samples exceeding threshold: 2",
            "ts: 1700.5, inner:21, outer:12, cpu:1",
            "ts: 1701.5, inner:30, outer:33, cpu:3",
            "ts: 1702.5, inner:11, outer:12, cpu:2",
        ];
        for line in head.iter().chain(&samples) {
            assert!(report.takes(1, line, &mut breakdowns), "{line}");
        }
        assert_eq!((breakdowns[0].total, breakdowns[0].cpu), (Ns::from_us(33), Cpu(3)));
        let above = breakdowns[0].part(PartKind::AboveThreshold);
        assert_eq!(above.map(|above| (above.id, above.time)), Some((Some(2), Ns::from_us(10))));
    }

    #[test]
    fn a_sample_above_the_largest_latency_counts() {
        let above = ["Starting tests:1700.5, inner:21, outer:33", "ts: 1701.5, inner:30, outer:12"];
        assert_eq!(largest(&[above[0], above[1], "Max Latency: 30us"]), Ns::from_us(33));
        assert_eq!(largest(&["Max Latency: 30us", above[0], above[1]]), Ns::from_us(33));
        assert_eq!(largest(&["Max Latency: 41us", above[0]]), Ns::from_us(41));
    }

    #[test]
    fn a_report_that_was_cut_before_its_result_has_its_samples() {
        let (mut report, mut breakdowns) = (Hwlatdetect::default(), vec![]);
        let lines = [
            "hwlatdetect: test duration 60 seconds",
            "parameters:Latency threshold: 10usSample window: 1000000us",
            "Starting tests:1700.5, inner:21, outer:33",
            "ts: 1701.5, inner:34, outer:12",
            "ts: 1702.5, inner:14, outer:12",
        ];
        for (number, line) in (1..).zip(lines) {
            assert!(report.takes(number, line, &mut breakdowns), "{line}");
        }
        assert_eq!(breakdowns.len(), 1);
        assert_eq!((breakdowns[0].total, breakdowns[0].line), (Ns::from_us(34), 3));
        let above = breakdowns[0].part(PartKind::AboveThreshold);
        assert_eq!(above.map(|above| (above.id, above.time)), Some((Some(3), Ns::from_us(10))));
        // The result takes the place of what the samples show.
        assert!(report.takes(6, "Max Latency: 35us", &mut breakdowns));
        assert_eq!((breakdowns.len(), breakdowns[0].total, breakdowns[0].line), (1, Ns::from_us(35), 6));
    }
}
