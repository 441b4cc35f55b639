//! A value read from a file of the machine, or the reason why there is none.
//!
//! No accessor treats "could not be read" as "does not exist":
//! [`Reading::need`] and [`Reading::if_present`] pass the reason on with `?`.

use crate::FromText;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The file does not exist, but its file system is mounted: the kernel does not have it.
    Missing,
    /// Its file system is not mounted here, or not visible: the absence proves nothing.
    NotMounted {
        /// Where it is usually mounted.
        at: String,
    },
    /// Permission was refused (`EACCES`, `EPERM`) to a user other than root.
    Denied,
    /// Permission was refused to root: by kernel lockdown (kernel_lockdown(7)), a security module or a container.
    DeniedToRoot,
    /// The capture does not contain the file, or does not show whether it existed.
    NotCollected,
    /// The content is not what the kernel documents.
    Malformed {
        /// The expected content.
        expected: String,
    },
    /// Reading failed in another way.
    Io {
        /// The message of the system.
        error: String,
    },
}

impl Why {
    /// True where there is no file, as far as can be seen: it does not exist, was not collected, or its file system is not
    /// mounted. For files that a machine may lack; the state of a kernel is not known then.
    pub fn is_absent(&self) -> bool {
        matches!(self, Why::Missing | Why::NotCollected | Why::NotMounted { .. })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Missing => write!(f, "it does not exist"),
            Why::NotMounted { at } if at == "/sys/kernel/debug" => {
                write!(f, "debugfs is not mounted: mount -t debugfs nodev /sys/kernel/debug")
            }
            Why::NotMounted { at } => write!(f, "nothing is mounted at {at}, or it is hidden here"),
            Why::Denied => write!(f, "permission denied: run as root"),
            Why::DeniedToRoot => write!(
                f,
                "permission denied, even to root: kernel lockdown (kernel_lockdown(7)), a security module or a \
                 container refuses it"
            ),
            Why::NotCollected => write!(f, "it was not collected: capture with `whylate snapshot`, as root"),
            Why::Malformed { expected } => write!(f, "not understood, expected {expected}"),
            Why::Io { error } => write!(f, "{error}"),
        }
    }
}

/// A value with the path it is from, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<T> {
    /// The file, as an absolute path on the examined machine.
    pub path: String,
    /// The value.
    pub value: Result<T, Why>,
}

/// A required value that is not known: it makes the result of a rule "cannot tell".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file, or another name for the unknown value.
    pub path: String,
    /// Why not.
    pub why: Why,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

impl std::error::Error for Unread {}

impl<T> Reading<T> {
    /// A reading of a value or a failure.
    pub fn new(path: impl Into<String>, value: Result<T, Why>) -> Self {
        Reading { path: path.into(), value }
    }

    /// The value. A missing file is a failure like any other.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn need(&self) -> Result<&T, Unread> {
        self.value.as_ref().map_err(|why| Unread { path: self.path.clone(), why: why.clone() })
    }

    /// The value, or `None` if the file is known not to exist: kernels have different files.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn if_present(&self) -> Result<Option<&T>, Unread> {
        match &self.value {
            Err(Why::Missing) => Ok(None),
            _ => self.need().map(Some),
        }
    }

    /// The value, if it is known: for details, or for optional features of a kernel or tool.
    /// Never to decide that a rule passes: an unknown value would then count as pass.
    pub fn known(&self) -> Option<&T> {
        self.value.as_ref().ok()
    }

    /// The same path with a converted value.
    pub fn and_then<U>(&self, then: impl FnOnce(&T) -> Result<U, Why>) -> Reading<U> {
        let value = self.value.as_ref().map_err(Clone::clone).and_then(then);
        Reading { path: self.path.clone(), value }
    }
}

impl Reading<String> {
    /// The text, understood as a `T`.
    pub fn parsed<T: FromText>(&self) -> Reading<T> {
        self.and_then(|text| {
            T::from_text(text).ok_or_else(|| Why::Malformed { expected: T::EXPECTED.to_owned() })
        })
    }
}

/// As evidence: the value, or why there is none.
impl<T: fmt::Display> fmt::Display for Reading<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Ok(value) => write!(f, "{} = {value}", self.path),
            Err(why) => write!(f, "{}: {why}", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_absence_is_an_answer() {
        let of = |value| Reading::<u64>::new("/f", value);
        assert_eq!(of(Ok(1)).if_present(), Ok(Some(&1)));
        assert_eq!(of(Err(Why::Missing)).if_present(), Ok(None));
        for why in [
            Why::Denied,
            Why::DeniedToRoot,
            Why::NotCollected,
            Why::NotMounted { at: "/sys".into() },
            Why::Malformed { expected: "a number".into() },
            Why::Io { error: "broken".into() },
        ] {
            assert_eq!(of(Err(why.clone())).if_present(), Err(Unread { path: "/f".into(), why }));
        }
        assert!(of(Err(Why::Missing)).need().is_err());
    }

    #[test]
    fn text_that_is_not_understood_is_malformed() {
        let reading = Reading::new("/f", Ok("12x".to_owned())).parsed::<u64>();
        assert_eq!(reading.need().unwrap_err().to_string(), "/f: not understood, expected a number");
    }
}
