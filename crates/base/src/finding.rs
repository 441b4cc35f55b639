//! The result of an analysis: a finding, with evidence, a reason and a fix.

use crate::{AdvisedFix, Cpu, Ns, SourceLocation};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much a finding matters to a task with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; nothing is late because of it.
    Info,
    /// Makes tasks late now and then, or will under load.
    Warning,
    /// Makes a task miss its time by a lot, or hang.
    Error,
}

/// How sure an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A guess that fits; another cause would look the same in this recording.
    Low,
    /// Likely; something that would prove it was not recorded.
    Medium,
    /// The recording shows it.
    High,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        })
    }
}

/// One observation that supports an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The time of the observation on the trace clock; `None` for a setting or a sum.
    pub at: Option<Ns>,
    /// The CPU of the observation, if it is a single CPU.
    pub cpu: Option<Cpu>,
    /// The observation, in the words of the event.
    pub what: String,
    /// Where in a program it was made, where a call stack shows it.
    pub location: Option<SourceLocation>,
}

impl Evidence {
    /// An observation at an instant of a CPU.
    pub fn at(at: Ns, cpu: Cpu, what: impl Into<String>) -> Self {
        Evidence { at: Some(at), cpu: Some(cpu), what: what.into(), location: None }
    }

    /// An observation that has no instant: a setting, a sum, a pattern.
    pub fn general(what: impl Into<String>) -> Self {
        Evidence { at: None, cpu: None, what: what.into(), location: None }
    }
}

/// A result about the whole trace or machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable kebab-case code; the code of the cause, if there is one.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// Why it matters and how it occurs.
    pub why: String,
    /// The evidence.
    pub evidence: Vec<Evidence>,
    /// The fixes, best first.
    pub fix: Vec<AdvisedFix>,
}
