//! Why a configuration file cannot be changed.

use crate::staged::StageError;

/// Why a variable cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// The file does not exist, and no program would read it.
    #[error("cannot set {name} in {file}: there is no such file; is the program that reads it installed?")]
    NoFile {
        /// The file.
        file: String,
        /// The variable.
        name: String,
    },
    /// The file is written in a way that is not understood.
    #[error("cannot set {name} in {file}: {why}; set it there by hand")]
    NotPlain {
        /// The file.
        file: String,
        /// The variable.
        name: String,
        /// What is not understood.
        why: &'static str,
    },
    /// No file can hold the value.
    #[error("cannot set {name} to {value:?}: a value is one line")]
    NotALine {
        /// The variable.
        name: String,
        /// The value.
        value: String,
    },
    /// A unit cannot be enabled, disabled or masked.
    #[error("cannot make {unit} {then} at boot: {why}")]
    Unit {
        /// Which.
        unit: String,
        /// What was to become of it.
        then: String,
        /// Why not, and what to do.
        why: &'static str,
    },
    /// A file cannot be read or changed.
    #[error(transparent)]
    StagedEdits(#[from] StageError),
}
