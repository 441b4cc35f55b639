//! Real-time threads: what they are and do, how they become what they are to be, and what keeps the others alive beside them.
//!
//! ```text
//! select  which threads are meant: of a process, of a name
//! ps      two samples of all threads and interrupts ─> PsReport
//! run     RunRequest ─> gates (what would refuse?) ─> changes in their order ─> the program, or the changed threads
//! guard   looks at the runnable threads ─> starving ones ─> a bounded policy for each, and its own one back
//! ```

pub mod guard;
mod journal_file;
mod protection;
pub mod ps;
mod rank;
pub mod run;
pub mod select;
