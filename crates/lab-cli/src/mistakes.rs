//! Small programs with one real-time mistake each, at a known line, and their clean twins: the judge of `whylate doctor`.
//!
//! ```text
//!  codes     the codes of the mistakes, by group
//!  case      one program as data: its source, the marked lines, how it is built
//!  read      the files of `mistakes`
//!  build     compilers; a stripped program keeps a twin with symbols, for the judge
//!  execute   runs a program alone, which checks its own mistake, and under doctor
//!  guest     runs many of them in guests of the lab
//!  answer    doctor's document, as far as the judge needs it
//!  places    the line of an address in a stripped program, by addr2line
//!  judge     compares the answer with the marked lines
//!  score     totals, and the JSON document
//! ```
//!
//! The expected line is read from the source: a comment `MISTAKE: code` stands on it. The labels are of the programs' authors,
//! and each was confirmed without whylate; `verified` describes how.

mod answer;
mod build;
mod case;
mod codes;
mod execute;
mod guest;
mod judge;
mod places;
mod read;
mod score;

pub use answer::{Answer, AnsweredFinding, AnsweredThread, AnsweredWhere};
pub use build::{BuildError, Built, build};
pub use case::{Case, Language, Mark};
pub use codes::{GROUPS, group_of};
pub use execute::{Execution, Paths, run};
pub use guest::run_in_guests;
pub use judge::{MistakeEnd, MistakeJudgement, judge};
pub use places::{Lookup, SourceLine};
pub use read::{MistakeCaseError, built_in, find};
pub use score::{MISTAKES_SCHEMA, MistakeResult, MistakeRow, MistakesDocument, schema};
