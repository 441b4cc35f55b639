//! The lines of a journal.

use super::{BootInstant, Timestamp};
use crate::Target;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "record")]
pub enum JournalRecord {
    /// Something begins; the records up to the next one of this kind belong to it.
    Session {
        /// What.
        kind: SessionKind,
        /// /proc/sys/kernel/random/boot_id; `None`: not known.
        boot_id: Option<String>,
        /// When.
        at: Timestamp,
        /// By which version of this program.
        version: String,
        /// What it will do, in this order.
        steps: Vec<PlannedStep>,
    },
    /// A step will be made now.
    Begin {
        /// Its number in this session, from 0.
        step: usize,
        /// How the target was.
        before: StoredState,
    },
    /// A step was made.
    Done {
        /// Which.
        step: usize,
        /// How the target is now, where the plan did not know it; `None`: as planned.
        after: Option<StoredState>,
    },
    /// A step need not be made: the target was so.
    Already {
        /// Which.
        step: usize,
    },
    /// A step cannot be made any more, and need not be: the thread ended.
    Gone {
        /// Which.
        step: usize,
        /// Why.
        why: String,
    },
    /// An optional step was refused, and nothing of its settings is in effect. One record for all of their steps, so that
    /// a cut leaves all of them or none.
    Skipped {
        /// The step that was refused.
        step: usize,
        /// The other steps of the same settings, which were not made or were undone.
        others: Vec<usize>,
        /// Why it was refused.
        why: String,
    },
    /// A step failed; where it was begun, the target may be anything.
    Failed {
        /// Which.
        step: usize,
        /// Why.
        why: String,
    },
    /// The session ends.
    End {
        /// How.
        #[serde(rename = "how")]
        outcome: SessionOutcome,
        /// When.
        at: Timestamp,
    },
    /// It is undone at that time, unless the user confirms.
    Armed {
        /// When, for people.
        until: Timestamp,
        /// When: what counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<BootInstant>,
    },
    /// The user confirmed.
    Confirmed {
        /// When.
        at: Timestamp,
    },
    /// A step of an earlier session was undone, or was not.
    Back {
        /// The session, from 0.
        session: usize,
        /// The step.
        step: usize,
        /// How it went.
        #[serde(rename = "how")]
        outcome: RollbackResult,
        /// Why, where it was not put back.
        why: Option<String>,
    },
}

/// What a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionKind {
    /// `whylate apply`.
    Apply,
    /// `whylate apply --resume`: the steps that the session before did not make.
    Resume,
    /// The runtime settings, reapplied at a later boot.
    Boot,
    /// `whylate rollback`.
    Rollback,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionOutcome {
    /// All steps are done.
    Complete,
    /// It was asked to stop between two steps.
    Stopped,
    /// A step failed; of a rollback: something was left.
    Failed,
}

/// What became of a step that was to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RollbackResult {
    /// Its old state was restored.
    PutBack,
    /// It already had its old state.
    WasBack,
    /// Its command regenerated it from files that have their old state again: another program had regenerated it
    /// meanwhile, as a kernel update does with the boot loader's menu.
    Remade,
    /// It ended with the boot in which it was made.
    Rebooted,
    /// The thread or control group ended.
    Gone,
    /// Another program changed it: it is left unchanged.
    Changed,
    /// It could not be put back.
    Failed,
}

impl RollbackResult {
    /// True where nothing is left to be undone.
    pub fn is_settled(self) -> bool {
        !matches!(self, RollbackResult::Changed | RollbackResult::Failed)
    }
}

/// A step, as a line can hold it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStep {
    /// What changes.
    #[serde(rename = "cell")]
    pub target: Target,
    /// How.
    pub then: PlannedAction,
    /// Run after the target was set, and again after it was put back.
    #[serde(rename = "tell", default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<Vec<String>>,
    /// The settings it is for, by name.
    pub settings: Vec<String>,
    /// Whether the apply goes on without its settings if it is refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// For serde.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What becomes of a target: an [`StepAction`](crate::StepAction), as a line can hold it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedAction {
    /// It is given this state.
    Set(StoredState),
    /// A command makes it.
    Make(Vec<String>),
}

/// A state, as a line can hold it: a file's content is in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum StoredState {
    /// Not there.
    Absent,
    /// A value.
    Value {
        /// In the words of [`Setting`](crate::Setting).
        value: String,
    },
    /// A regular file.
    File {
        /// The number of the file in `blobs`.
        blob: u64,
        /// How long that is.
        length: u64,
        /// Permission bits.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        target: String,
    },
    /// A directory.
    Directory {
        /// Permission bits.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
    },
}

impl PlannedAction {
    /// The command of an [`StepAction::Make`](crate::StepAction::Make).
    pub fn command(&self) -> Option<&[String]> {
        match self {
            PlannedAction::Make(command) => Some(command),
            PlannedAction::Set(_) => None,
        }
    }
}

/// What a person is shown of it, as of a [`TargetState`](crate::TargetState).
impl fmt::Display for StoredState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoredState::Absent => f.write_str("absent"),
            StoredState::Value { value } if value.is_empty() => f.write_str("(empty)"),
            StoredState::Value { value } => f.write_str(value),
            StoredState::File { length, mode, uid, gid, .. } => {
                write!(f, "{length} bytes, mode {mode:o}, owner {uid}:{gid}")
            }
            StoredState::Link { target } => write!(f, "link to {target}"),
            StoredState::Directory { mode, uid, gid } => {
                write!(f, "directory, mode {mode:o}, owner {uid}:{gid}")
            }
        }
    }
}
