//! Task sets as users write them: TOML, described in docs/simulate.md.
//!
//! ```text
//! text ──> document (serde) ──> convert (names, times, steps) ──> Model ──> check
//! ```

mod convert;
mod document;
mod error;
mod overrides;
mod steps;
mod values;

pub use error::TaskSetError;
pub use overrides::{MachineSettings, Overrides};

use crate::model::Model;

/// Reads a task set.
///
/// # Errors
/// [`TaskSetError`], with the line or the task, what is wrong there and what would be right.
pub fn read(text: &str, overrides: &Overrides) -> Result<Model, TaskSetError> {
    let document: document::Document = toml::from_str(text)?;
    let model = convert::convert(document, overrides)?;
    crate::check::check(&model)?;
    Ok(model)
}

#[cfg(test)]
mod tests;
