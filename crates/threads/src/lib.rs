//! Real-time threads: how they become what they are to be.
//!
//! ```text
//! select  which threads are meant: of a process, of a name
//! run     RunRequest ─> gates (what would refuse?) ─> changes in their order ─> the program, or the changed threads
//! ```

pub mod run;
pub mod select;
