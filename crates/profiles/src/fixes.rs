//! The fixes that findings advise, as a desired state of a machine.
//!
//! ```text
//! explain.json, check.json, doctor.json ─read─> Fixes: numbered, each with its action
//!                                                 └─ chosen, resolved for a machine ─> DesiredState; the others with the reason
//! ```

mod choice;
mod document;
mod resolve;

pub use choice::{ChosenFixes, FixChoiceError};
pub use document::{FixesError, SCHEMAS};

use whylate_base::Action;

/// The fixes of a document, in its order: those of findings first, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixes {
    /// What the document is called: its file.
    pub name: String,
    /// The schema of the document.
    pub schema: String,
    /// The codes of failed rules, of a document of `check`.
    pub failed_rules: Vec<String>,
    /// Each fix; its number is its place, counted from 1.
    pub each: Vec<NumberedFix>,
}

/// A fix that a finding advises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedFix {
    /// Its number in the document, from 1.
    pub number: usize,
    /// The code of the finding, verdict or rule.
    pub code: String,
    /// What that found, in one line.
    pub title: String,
    /// What to do.
    pub text: String,
    /// The settings; `None`: the document was written before fixes had them.
    pub action: Option<Action>,
    /// What may go wrong, where the document has it.
    pub risk: Option<String>,
    /// Which finding advises it: alternatives have the same one.
    pub finding: usize,
    /// The finding only informs, or it is one activation's verdict: planned only where it is asked for by its number.
    pub is_minor: bool,
}
