//! The events of a watch as JSON, one object in each line, and its journal, which is the last of them.

pub mod document;
mod from_watch;
mod to_watch;

pub use from_watch::{line, summary};
pub use to_watch::{of_summary, previous, report, run};

use document::Line;
use serde_json::Value;

/// The JSON Schema of [`line()`]'s objects.
pub fn schema() -> Value {
    crate::json::schema::<Line>()
}
