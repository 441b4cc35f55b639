//! The outcome of a rule: pass, fail, not applicable; or the reason why it cannot tell.

use crate::command;
use std::fmt;
use whylate_base::{Action, Severity};
use whylate_host::{Reading, Unread};

/// The result of a rule. `?` on a reading turns an unread value into [`CannotTell`].
pub type RuleResult = Result<RuleOutcome, CannotTell>;

/// The status of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleStatus {
    /// The statement of the rule holds.
    Pass,
    /// The statement of the rule does not hold.
    Fail,
    /// The rule does not apply to this machine or to the given options.
    NotApplicable,
}

/// An outcome with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The status.
    pub status: RuleStatus,
    /// The severity of a failure, if it differs from the rule's.
    pub severity: Option<Severity>,
    /// The observation, in one line.
    pub what: String,
    /// Why a failure matters, with a number if one is known. Empty otherwise.
    pub why: String,
    /// The evidence.
    pub evidence: Vec<Proof>,
    /// The fixes, best first.
    pub fixes: Vec<Fix>,
    /// Where several ways lead to the same aim: each with its state and cost on this machine.
    pub choices: Vec<Choice>,
}

/// One of several ways, with its state and cost on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The way.
    pub name: String,
    /// Its state and cost.
    pub here: String,
}

/// A value that was read, and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The file, or another source: a thread, a CPU.
    pub path: String,
    /// The value.
    pub value: String,
}

/// A fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// A command that takes effect at once and does not survive a reboot.
    pub runtime: Option<String>,
    /// The permanent setting: a kernel parameter, a configuration file.
    pub boot: Option<String>,
    /// The risk.
    pub risk: Option<String>,
    /// Whether it takes effect only after a reboot.
    pub reboot: bool,
    /// The settings, or the reason why there are none.
    pub action: Action,
}

impl Fix {
    /// A fix by a command that takes effect at once.
    pub fn runtime(command: impl Into<String>) -> Fix {
        let command = command.into();
        let action = command::of_command(&command).unwrap_or_else(unnamed);
        Fix { runtime: Some(command), boot: None, risk: None, reboot: false, action }
    }

    /// A fix that takes effect only after a reboot.
    pub fn reboot(setting: impl Into<String>) -> Fix {
        let setting = setting.into();
        let action = command::of_lasting(&setting).unwrap_or_else(unnamed);
        Fix { runtime: None, boot: Some(setting), risk: None, reboot: true, action }
    }

    /// Adds the permanent setting.
    #[must_use]
    pub fn boot(mut self, setting: impl Into<String>) -> Fix {
        let setting = setting.into();
        if self.action.flaw().is_some() {
            self.action = command::of_lasting(&setting).unwrap_or_else(unnamed);
        }
        self.boot = Some(setting);
        self
    }

    /// Names the settings, where the command does not.
    #[must_use]
    pub fn action(mut self, action: Action) -> Fix {
        self.action = action;
        self
    }

    /// States why no setting makes it.
    #[must_use]
    pub fn by_hand(self, reason: impl Into<String>) -> Fix {
        self.action(Action::by_hand(reason))
    }

    /// Adds the risk.
    #[must_use]
    pub fn risk(mut self, risk: impl Into<String>) -> Fix {
        self.risk = Some(risk.into());
        self
    }
}

/// Neither settings nor a reason: what a rule's tests do not accept.
fn unnamed() -> Action {
    Action::by_hand("")
}

impl RuleOutcome {
    fn new(status: RuleStatus, what: impl Into<String>) -> RuleOutcome {
        RuleOutcome {
            status,
            severity: None,
            what: what.into(),
            why: String::new(),
            evidence: Vec::new(),
            fixes: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The rule passes. `what` is the observation.
    pub fn pass(what: impl Into<String>) -> RuleOutcome {
        RuleOutcome::new(RuleStatus::Pass, what)
    }

    /// The rule fails. `what` is the observation, `why` the reason why it matters.
    pub fn fail(what: impl Into<String>, why: impl Into<String>) -> RuleOutcome {
        RuleOutcome { why: why.into(), ..RuleOutcome::new(RuleStatus::Fail, what) }
    }

    /// The rule does not apply, because of `what`.
    pub fn not_applicable(what: impl Into<String>) -> RuleOutcome {
        RuleOutcome::new(RuleStatus::NotApplicable, what)
    }

    /// Overrides the rule's severity.
    #[must_use]
    pub fn graded(mut self, severity: Severity) -> RuleOutcome {
        self.severity = Some(severity);
        self
    }

    /// Adds a reading as evidence: its value, or why there is none.
    #[must_use]
    pub fn shows<T: fmt::Display>(self, reading: &Reading<T>) -> RuleOutcome {
        let value = match &reading.value {
            // In the notation of the kernel.
            Ok(value) => match value.to_string().as_str() {
                "true" => "1".to_owned(),
                "false" => "0".to_owned(),
                other => other.to_owned(),
            },
            Err(why) => format!("({why})"),
        };
        self.shows_as(&reading.path, value)
    }

    /// Adds evidence as text: a line of a long file, a thread, a sum.
    #[must_use]
    pub fn shows_as(mut self, path: impl Into<String>, value: impl Into<String>) -> RuleOutcome {
        self.evidence.push(Proof { path: path.into(), value: value.into() });
        self
    }

    /// Adds a fix.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> RuleOutcome {
        self.fixes.push(fix);
        self
    }
}

/// Why a rule cannot tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotTell {
    /// The unknown value: a path or a description.
    pub path: String,
    /// The reason, and how to get the value.
    pub why: String,
}

impl CannotTell {
    /// An unknown value although every file was read.
    pub fn because(path: impl Into<String>, why: impl Into<String>) -> CannotTell {
        CannotTell { path: path.into(), why: why.into() }
    }
}

impl From<Unread> for CannotTell {
    fn from(unread: Unread) -> Self {
        CannotTell { path: unread.path, why: unread.why.to_string() }
    }
}
