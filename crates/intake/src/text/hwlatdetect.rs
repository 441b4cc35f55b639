//! What `hwlatdetect` of rt-tests prints.
//!
//! ```text
//! hwlatdetect:  test duration 120 seconds
//!         Latency threshold: 10us
//! Starting test
//! test finished
//! Max Latency: 84us                       or `Below threshold`
//! Samples exceeding threshold: 1
//! ts: 1499801089.066141940, inner:84, outer:0
//! ```
//!
//! Facts: src/hwlatdetect/hwlatdetect.py of rt-tests.

use super::fields;
use whylate_base::{Cpu, Ns};
use whylate_events::{Breakdown, Tool};

/// How its lines begin.
const LINES: [&str; 14] = [
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
    "ts:",
];

/// A report that is being read.
#[derive(Default)]
pub(crate) struct Hwlatdetect {
    has_begun: bool,
}

impl Hwlatdetect {
    /// Takes a line: whether it is one of the report, and the largest latency.
    pub(crate) fn line(&mut self, number: u64, line: &str) -> (bool, Option<Breakdown>) {
        self.has_begun |= line.starts_with("hwlatdetect:");
        if !self.has_begun {
            return (false, None);
        }
        let Some(largest) = line.strip_prefix("Max Latency:").map(fields::trim) else {
            return (LINES.iter().any(|&begin| line.starts_with(begin)), None);
        };
        let us = largest.strip_suffix("us").and_then(|us| fields::decimal(fields::trim(us)));
        let total = match us.and_then(|us| i64::try_from(us).ok()?.checked_mul(1_000)) {
            Some(ns) => Ns(ns),
            None if largest == "Below threshold" => Ns::ZERO,
            None => return (false, None),
        };
        let (cpu, tool) = (Cpu::UNKNOWN, Tool::Hwlatdetect);
        (true, Some(Breakdown { tool, cpu, total, parts: vec![], stack: vec![], line: number }))
    }
}
