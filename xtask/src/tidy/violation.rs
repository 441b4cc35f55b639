//! What a rule finds: a place, a fault and a remedy.

use std::fmt;

/// What is wrong where, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Violation {
    pub(super) path: String,
    /// Counted from 1; `None` if it is the whole file.
    pub(super) line: Option<usize>,
    pub(super) wrong: String,
    pub(super) todo: String,
}

impl Violation {
    pub(super) fn at(
        path: &str,
        line: usize,
        wrong: impl Into<String>,
        todo: impl Into<String>,
    ) -> Violation {
        Violation { path: path.to_owned(), line: Some(line), wrong: wrong.into(), todo: todo.into() }
    }

    pub(super) fn of(path: &str, wrong: impl Into<String>, todo: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line: None, wrong: wrong.into(), todo: todo.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; {}", self.wrong, self.todo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_reads_as_place_fault_and_remedy() {
        let violation = Violation::at("a/b.rs", 7, "dbg! left behind", "remove it");
        assert_eq!(violation.to_string(), "a/b.rs:7: dbg! left behind; remove it");
        let violation = Violation::of("a/b.rs", "no header", "write one");
        assert_eq!(violation.to_string(), "a/b.rs: no header; write one");
    }
}
