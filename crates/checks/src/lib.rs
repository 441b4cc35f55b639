//! Is a machine ready for real-time work? One rule per file, each a pure function of a snapshot.
//!
//! ```text
//! Snapshot, Ask ──> every Rule of RULES ──> Verdict = Ok(Answer) | Err(CannotTell)
//! ```
//!
//! A rule asks the snapshot with `?`: what could not be read makes the verdict "cannot tell", and no rule
//! has to think of it. Nothing is reported as fine that could not be read.

mod answer;
mod ask;
mod grades;
mod report;
mod rule;
mod rules;
mod survey;
#[cfg(test)]
mod testing;

pub use answer::{Answer, CannotTell, Fix, Proof, Status, Verdict};
pub use ask::{Ask, Profile};
pub use report::{Answered, Machine, Report, Selection, check, explain};
pub use rule::Rule;
pub use rules::RULES;
