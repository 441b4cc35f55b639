//! Errors in a TuneD profile, for its author and its user.

use std::fmt;
use std::sync::Arc;

/// A line of a TuneD profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedLocation {
    /// The file.
    pub file: Arc<str>,
    /// The section.
    pub section: Arc<str>,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for TunedLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.section.is_empty() {
            true => Ok(()),
            false => write!(f, " [{}]", self.section),
        }
    }
}

/// Why a TuneD profile gives no desired settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TunedError {
    /// What was asked for cannot be a profile's name.
    #[error(
        "`{name}` is not a name of a TuneD profile: letters, digits, `_`, `.` and `-` are; see `tuned-adm list` or /usr/lib/tuned"
    )]
    Name {
        /// What was asked for.
        name: String,
    },
    /// There is no profile of this name.
    #[error(
        "there is no TuneD profile `{name}`{included}: looked for {name}/tuned.conf in {looked_in}; there are: {available}"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it is included; empty: it was asked for.
        included: String,
        /// The directories, and why one could not be looked into.
        looked_in: String,
        /// The names there are.
        available: String,
    },
    /// A file or directory could not be read.
    #[error("cannot read {path} of TuneD: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why not, and what would help.
        why: String,
    },
    /// Something in a file is wrong.
    #[error("{location}: {what}; {fix}")]
    Written {
        /// Where.
        location: TunedLocation,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// The profile itself states that something must be so, and it is not.
    #[error(
        "{location}: the profile asks that `{claim}`, but {sides}; set its variables in the file that [variables] includes, or with --set NAME=VALUE{hint}"
    )]
    Assertion {
        /// Where.
        location: TunedLocation,
        /// What must be so, in the profile's words.
        claim: String,
        /// How it is: `2` is not `3`.
        sides: String,
        /// What may be the cause; begins with a blank, or is empty.
        hint: String,
    },
    /// A variable was given that the profile knows nothing of.
    #[error("the TuneD profile {profile} has no variable `{name}`; it has: {known}")]
    Given {
        /// Which profile.
        profile: String,
        /// The variable.
        name: String,
        /// Those it has.
        known: String,
    },
}

impl TunedError {
    pub(super) fn written(
        location: &TunedLocation,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> TunedError {
        TunedError::Written { location: location.clone(), what: what.into(), fix: fix.into() }
    }
}
