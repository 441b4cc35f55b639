//! `whylate doctor`: finds the real-time mistakes of a program, with their lines, without a rebuild.
//!
//! ```text
//! record: events, call stacks ─┐
//! watch:  /proc, now and then  ├─> gather ──> Observation ──> rules, one file each ──> DoctorReport
//! ledger: inversions ──────────┘
//!                                  path.rs: the periodic part of each real-time thread
//! ```
//!
//! A rule accuses only what was seen. What could not be seen is listed in the report, with the rules that needed it.

mod call_flags;
mod called_names;
mod calls;
mod coarse_reads;
mod conclude;
mod error;
mod examine;
mod facts;
mod finding;
mod futex;
mod futex_words;
mod gather;
mod interpreter;
mod inversions;
#[cfg(test)]
mod made_up;
mod memory;
mod numa;
mod options;
mod path;
mod place_calls;
mod process_files;
mod report;
mod resident;
mod rules;
mod run;
mod scratch;
mod sockets;
mod target;
mod untraced;
mod watch;

pub use error::DoctorError;
pub use finding::{DoctorFinding, FoundThread};
pub use options::DoctorOptions;
pub use report::{CallTotal, DoctorReport, ThreadReport};
pub use rules::{codes, page};
pub use run::doctor;
pub use target::DoctorTarget;
