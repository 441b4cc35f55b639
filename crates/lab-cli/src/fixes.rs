//! Does the first advice help? Each scenario runs, its explanation advises, the advice is followed, and it runs again.
//!
//! ```text
//!  advice     the first fix of an explanation that is not a change of a program
//!  lateness   how late a run's victims were, and why
//!  end        before and after, compared: gone, less, moved, unchanged, worse
//!  score      one run with its result, totals, and the JSON document
//!  execute    the runs, the advice, and the runs after it
//! ```

mod advice;
mod end;
mod execute;
mod lateness;
mod score;

pub use advice::{FirstAdvice, FirstFix, first_advice};
pub use end::{FixEnd, compare};
pub use execute::{FixRuns, run};
pub use lateness::{CauseCount, Lateness};
pub use score::{FIXES_SCHEMA, FixResult, FixRoute, FixRow, FixesDocument, schema};
