//! Real-time threads: what they are and do, and how they become what they are to be.
//!
//! ```text
//! select  which threads are meant: of a process, of a name
//! ps      two samples of all threads and interrupts ─> PsReport
//! run     RunRequest ─> gates (what would refuse?) ─> changes in their order ─> the program, or the changed threads
//! ```

pub mod ps;
pub mod run;
pub mod select;
