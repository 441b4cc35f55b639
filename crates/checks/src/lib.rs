//! Checks whether a machine is ready for real-time work. One rule per file, each a pure function of a snapshot.
//!
//! ```text
//! Snapshot, CheckOptions ──> every Rule of RULES ──> RuleResult = Ok(RuleOutcome) | Err(CannotTell)
//! ```
//!
//! A rule reads the snapshot with `?`: a value that could not be read makes the result "cannot tell" without code in
//! the rule. A value that could not be read never counts as pass.

mod command;
mod grades;
mod options;
mod outcome;
mod report;
mod rule;
mod rules;
mod survey;
#[cfg(test)]
mod testing;

pub use options::{CheckOptions, Profile};
pub use outcome::{CannotTell, Choice, Fix, Proof, RuleOutcome, RuleResult, RuleStatus};
pub use report::{CheckReport, CheckedRule, MachineId, Selection, check, explain};
pub use rule::Rule;
pub use rules::RULES;
