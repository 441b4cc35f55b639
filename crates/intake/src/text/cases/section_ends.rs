//! The lines of bcc's criticalstat about one critical section.
//!
//! ```text
//! Finding critical section with IRQ disabled for > 100us
//! TASK: app          (pid   812 tid   812) Total Time: 150.250  us
//! Section start: take_it -> caller
//! Section end:   _raw_spin_unlock_irqrestore -> caller
//!   trace_hardirqs_on+0xdc
//!   caller+0x80
//! ```

use crate::text::fields;
use std::fmt;

/// So many functions of the stack are named.
const MOST_NAMED: usize = 6;

/// Which section the list is of, by its title.
pub(super) fn section(line: &str) -> Option<&'static str> {
    let (_, what) = line.split_once("Finding critical section with ")?;
    match fields::first_word(what).to_ascii_lowercase().as_str() {
        "irq" => Some("a section with interrupts disabled"),
        "preempt" | "preemption" => Some("a section with preemption disabled"),
        _ => None,
    }
}

/// The microseconds of a section: `Total Time: 150.250us`, `Total Time: 150.250  us`
pub(super) fn total(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Total Time: ")?;
    let time = fields::first_word(rest);
    time.strip_suffix("us").or_else(|| (rest.split_whitespace().nth(1) == Some("us")).then_some(time))
}

/// Where a section began and ended, and the stack at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SectionEnds {
    start: Option<String>,
    end: Option<String>,
    /// Innermost first.
    stack: Vec<String>,
}

impl SectionEnds {
    /// Takes in a line below the one with the length.
    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim();
        if let Some(start) = line.strip_prefix("Section start:") {
            self.start = Some(start.trim().to_owned());
        } else if let Some(end) = line.strip_prefix("Section end:") {
            self.end = Some(end.trim().to_owned());
        } else if self.end.is_some()
            && self.stack.len() < MOST_NAMED
            && let Some((function, _)) = line.split_once("+0x")
            // The probe itself.
            && !function.starts_with("trace_")
            && !function.is_empty()
        {
            self.stack.push(function.to_owned());
        }
    }
}

/// `, from a -> b to c -> d; the stack at its end is c, called from d, e`
impl fmt::Display for SectionEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((start, end)) = self.start.as_ref().zip(self.end.as_ref()) {
            write!(f, ", from {start} to {end}")?;
        }
        match self.stack.as_slice() {
            [] => Ok(()),
            [innermost] => write!(f, "; the stack at its end is {innermost}"),
            [innermost, callers @ ..] => {
                write!(f, "; the stack at its end is {innermost}, called from {}", callers.join(", "))
            }
        }
    }
}
