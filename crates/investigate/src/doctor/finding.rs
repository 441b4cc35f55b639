//! What a rule finds.

use super::facts::ThreadFacts;
use whylate_base::{Comm, Ns, Severity, SourceLocation, Tid};

/// A mistake in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorFinding {
    /// Stable kebab-case code; it has a [page](super::page).
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One line.
    pub title: String,
    /// The thread; `None`: the whole process.
    pub thread: Option<FoundThread>,
    /// The program's own line; `None` where no call stack shows it, or no line is to blame.
    pub location: Option<SourceLocation>,
    /// The line of the other party: the one that released the lock, the waker.
    pub other: Option<(FoundThread, Option<SourceLocation>)>,
    /// How often it happened; 1 for a setting.
    pub count: u64,
    /// The longest that one occurrence took; `None` where it has no duration, or it is not known.
    pub worst: Option<Ns>,
    /// Why it matters.
    pub why: String,
    /// What to do, best first.
    pub fix: Vec<String>,
}

/// A thread in a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundThread {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub comm: Comm,
}

impl From<&ThreadFacts> for FoundThread {
    fn from(thread: &ThreadFacts) -> FoundThread {
        FoundThread { tid: thread.tid, comm: thread.comm }
    }
}

impl DoctorFinding {
    /// A finding of a rule about a thread that happened once and has no line.
    pub(in crate::doctor) fn new(code: &'static str, severity: Severity, title: String) -> DoctorFinding {
        DoctorFinding {
            code,
            severity,
            title,
            thread: None,
            location: None,
            other: None,
            count: 1,
            worst: None,
            why: String::new(),
            fix: Vec::new(),
        }
    }

    /// With the thread.
    pub(in crate::doctor) fn of(mut self, thread: &ThreadFacts) -> DoctorFinding {
        self.thread = Some(thread.into());
        self
    }

    /// With the line.
    pub(in crate::doctor) fn at(mut self, location: Option<SourceLocation>) -> DoctorFinding {
        self.location = location;
        self
    }

    /// With how often it happened, and the longest.
    pub(in crate::doctor) fn times(mut self, count: usize, worst: Option<Ns>) -> DoctorFinding {
        self.count = count as u64;
        self.worst = worst;
        self
    }

    /// With the reason.
    pub(in crate::doctor) fn because(mut self, why: impl Into<String>) -> DoctorFinding {
        self.why = why.into();
        self
    }

    /// With what to do, best first.
    pub(in crate::doctor) fn fix(mut self, fix: &[&str]) -> DoctorFinding {
        self.fix = fix.iter().map(|&line| line.to_owned()).collect();
        self
    }
}
