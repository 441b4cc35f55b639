//! Errors in a profile, for its author and its user.

use std::fmt;

/// Why a profile gives no desired settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is no profile of this name.
    #[error("there is not a profile `{name}`: looked for {name}.toml in {looked_in}; there are {available}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The directories.
        looked_in: String,
        /// The names there are.
        available: String,
    },
    /// The file could not be read.
    #[error("cannot read the profile {path}: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why not, and what would help.
        why: String,
    },
    /// Something in the file is wrong.
    #[error("{location}: {what}; {possible}")]
    Written {
        /// Where.
        location: Location,
        /// What is wrong.
        what: String,
        /// What is possible instead.
        possible: String,
    },
    /// Profiles extend each other in a circle.
    #[error("{location}: {chain}: a profile cannot extend itself; remove one of these `extends`")]
    Circle {
        /// Where the circle closes.
        location: Location,
        /// The profiles, each extending the next.
        chain: String,
    },
    /// Variables that the profile cannot do without have no value.
    #[error("the profile {profile} needs {}", needed(.missing))]
    Needs {
        /// Which profile.
        profile: String,
        /// The variables, and what each is for.
        missing: Vec<(String, String)>,
    },
    /// A value for a variable is wrong.
    #[error("{name}={value}: {what}; {possible}")]
    Given {
        /// The variable.
        name: String,
        /// The value it was given.
        value: String,
        /// What is wrong.
        what: String,
        /// What is possible instead.
        possible: String,
    },
}

/// A location in a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file: a path, or `realtime.toml` for one that is built in.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Something that is wrong, wherever it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) what: String,
    pub(super) possible: String,
}

impl Mistake {
    pub(super) fn new(what: impl Into<String>, possible: impl Into<String>) -> Mistake {
        Mistake { what: what.into(), possible: possible.into() }
    }

    pub(super) fn at(self, location: &Location) -> ProfileError {
        ProfileError::Written { location: location.clone(), what: self.what, possible: self.possible }
    }
}

/// What else there is, for an error: `there are a, b, c`.
pub(super) fn there_are<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.is_empty() {
        true => "there are none".to_owned(),
        false => format!("there are {}", names.join(", ")),
    }
}

fn needed(missing: &[(String, String)]) -> String {
    let each: Vec<String> = missing
        .iter()
        .map(|(name, prompt)| match prompt.is_empty() {
            true => format!("a value for `{name}`"),
            false => format!("a value for `{name}` ({prompt})"),
        })
        .collect();
    let options = missing.iter().map(|(name, _)| match name.as_str() {
        "isolated" => "--isolated LIST".to_owned(),
        name => format!("--set {name}=VALUE"),
    });
    let options: Vec<String> = options.collect();
    format!("{}: give {}", each.join(", and "), options.join(" "))
}
