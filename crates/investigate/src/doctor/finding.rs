//! What a rule finds.

use super::facts::ThreadFacts;
use whylate_base::{Action, AdvisedFix, Comm, Ns, Policy, Severity, SourceLocation, ThreadAction, Tid};

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
    pub fix: Vec<AdvisedFix>,
}

/// The thread gets a priority; `policy`: and this policy, in place of the real-time one that it has.
pub(in crate::doctor) fn set_priority(thread: &ThreadFacts, policy: Option<Policy>, priority: u32) -> Action {
    let name = thread.comm.to_string();
    match name.is_empty() || !(1..=99).contains(&priority) {
        true => Action::by_hand("which priority is right depends on the other threads of the program"),
        false => Action::thread(ThreadAction {
            thread: name,
            tid: Some(thread.tid.0),
            policy: policy.map(|policy| policy.name().to_owned()),
            priority: Some(priority),
            ..ThreadAction::default()
        }),
    }
}

/// Why no setting makes most fixes.
const PROGRAM: &str = "the program is to be changed";

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

    /// With what to do, best first: changes to the program, unless [`action`](Self::action) names settings.
    pub(in crate::doctor) fn fix(mut self, fix: &[&str]) -> DoctorFinding {
        self.fix = fix.iter().map(|&line| AdvisedFix::by_hand(line, PROGRAM)).collect();
        self
    }

    /// With what a plan can make of the fix at this place, or another reason why it is none.
    pub(in crate::doctor) fn action(mut self, at: usize, action: Action) -> DoctorFinding {
        if let Some(fix) = self.fix.get_mut(at) {
            fix.action = action;
        }
        self
    }
}
