//! What a rule answers: pass, fail, not applicable; or that it cannot tell.

use std::fmt;
use whylate_base::Severity;
use whylate_host::{Reading, Unread};

/// A rule's result. `?` on a reading turns what could not be read into [`CannotTell`].
pub type Verdict = Result<Answer, CannotTell>;

/// How it is with what a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// As it should be.
    Pass,
    /// Not as it should be.
    Fail,
    /// It does not arise on this machine, or was not asked.
    NotApplicable,
}

/// An answer with what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How it is.
    pub status: Status,
    /// How much a failure matters, where that is not what the rule says.
    pub severity: Option<Severity>,
    /// What was found, in one line.
    pub what: String,
    /// Why it matters, with a number where one is known. Empty unless it failed.
    pub why: String,
    /// What shows it.
    pub evidence: Vec<Proof>,
    /// What to do, best first.
    pub fixes: Vec<Fix>,
}

/// What was read where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The file, or whose it is: a thread, a CPU.
    pub path: String,
    /// What it says.
    pub value: String,
}

/// A way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A command that works at once and is gone after a reboot.
    pub runtime: Option<String>,
    /// What makes it last: a kernel parameter, a configuration file.
    pub boot: Option<String>,
    /// What may go wrong with it.
    pub risk: Option<String>,
    /// Whether it works only after a reboot.
    pub reboot: bool,
}

impl Fix {
    /// A command that works at once.
    pub fn runtime(command: impl Into<String>) -> Fix {
        Fix { runtime: Some(command.into()), boot: None, risk: None, reboot: false }
    }

    /// Something that works only after a reboot.
    pub fn reboot(setting: impl Into<String>) -> Fix {
        Fix { runtime: None, boot: Some(setting.into()), risk: None, reboot: true }
    }

    /// What makes a command last.
    #[must_use]
    pub fn boot(mut self, setting: impl Into<String>) -> Fix {
        self.boot = Some(setting.into());
        self
    }

    /// What may go wrong.
    #[must_use]
    pub fn risk(mut self, risk: impl Into<String>) -> Fix {
        self.risk = Some(risk.into());
        self
    }
}

impl Answer {
    fn new(status: Status, what: impl Into<String>) -> Answer {
        let (evidence, fixes) = (Vec::new(), Vec::new());
        Answer { status, severity: None, what: what.into(), why: String::new(), evidence, fixes }
    }

    /// It is as it should be. `what` is a statement of what was found.
    pub fn pass(what: impl Into<String>) -> Answer {
        Answer::new(Status::Pass, what)
    }

    /// It is not. `what` was found, and it matters because of `why`.
    pub fn fail(what: impl Into<String>, why: impl Into<String>) -> Answer {
        Answer { why: why.into(), ..Answer::new(Status::Fail, what) }
    }

    /// The question does not arise here, because of `what`.
    pub fn not_applicable(what: impl Into<String>) -> Answer {
        Answer::new(Status::NotApplicable, what)
    }

    /// With a severity other than the rule's.
    #[must_use]
    pub fn graded(mut self, severity: Severity) -> Answer {
        self.severity = Some(severity);
        self
    }

    /// With a reading as evidence: its value, or why there is none.
    #[must_use]
    pub fn shows<T: fmt::Display>(self, reading: &Reading<T>) -> Answer {
        let value = match &reading.value {
            // As the kernel writes them.
            Ok(value) => match value.to_string().as_str() {
                "true" => "1".to_owned(),
                "false" => "0".to_owned(),
                other => other.to_owned(),
            },
            Err(why) => format!("({why})"),
        };
        self.shows_as(&reading.path, value)
    }

    /// With evidence in the rule's words: a line of a long file, a thread, a sum.
    #[must_use]
    pub fn shows_as(mut self, path: impl Into<String>, value: impl Into<String>) -> Answer {
        self.evidence.push(Proof { path: path.into(), value: value.into() });
        self
    }

    /// With a way out.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Answer {
        self.fixes.push(fix);
        self
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotTell {
    /// What is not known: a path, or what could not be found out.
    pub path: String,
    /// Why not, and what would help.
    pub why: String,
}

impl CannotTell {
    /// What is not known although everything was read.
    pub fn because(path: impl Into<String>, why: impl Into<String>) -> CannotTell {
        CannotTell { path: path.into(), why: why.into() }
    }
}

impl From<Unread> for CannotTell {
    fn from(unread: Unread) -> Self {
        CannotTell { path: unread.path, why: unread.why.to_string() }
    }
}
