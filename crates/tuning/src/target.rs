//! What is really written: the targets of a machine, each with a state that can be read, set and put back.
//!
//! A plan speaks of settings. To make one lasts a target or several: a kernel parameter is an assignment in the boot
//! loader's file, and the file the boot loader reads, made from it by a command.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::{ThreadId, Timestamp};
use whylate_bootloader::FileState;

/// Something that has a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "cell")]
pub enum Target {
    /// A file of the kernel that holds one value. Gone with a reboot.
    #[serde(rename = "knob")]
    Tunable {
        /// Absolute.
        path: String,
    },
    /// A thread's policy and priority. Gone with a reboot.
    ThreadPolicy {
        /// Which.
        thread: ThreadId,
    },
    /// A thread's CPUs. Gone with a reboot.
    ThreadCpus {
        /// Which.
        thread: ThreadId,
    },
    /// Whether a unit runs. Gone with a reboot.
    UnitActive {
        /// Its name.
        unit: String,
    },
    /// A control group's directory. Gone with a reboot.
    Group {
        /// Absolute, below /sys/fs/cgroup.
        path: String,
    },
    /// A regular file or a symbolic link on a disk, with its mode and owner.
    File {
        /// Absolute; not itself a link where a regular file is meant.
        path: String,
    },
    /// A directory on a disk.
    Directory {
        /// Absolute.
        path: String,
    },
}

impl Target {
    /// True where a reboot brings back what was.
    pub fn is_of_boot(&self) -> bool {
        !matches!(self, Target::File { .. } | Target::Directory { .. })
    }
}

/// The state of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetState {
    /// It is not there.
    Absent,
    /// A value, in the words of [`Setting`](crate::Setting).
    Value(String),
    /// A regular file.
    File(FileState),
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
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

/// One step of an apply: journaled, then made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyStep {
    /// What changes.
    pub target: Target,
    /// How.
    pub action: StepAction,
    /// Run after the target was set, and again after it was put back: `systemctl daemon-reload`.
    pub notify: Option<Vec<String>>,
    /// The settings it is for, by name. Steps of the same settings are made whole or not at all.
    pub settings: Vec<String>,
    /// Whether the apply goes on without its settings if it is refused. Only runtime targets are skipped so.
    pub optional: bool,
}

/// How a target changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// It is given this state.
    Set(TargetState),
    /// A command makes it anew from what was changed before: `update-grub`. Its state of before is kept, and put
    /// back without the command.
    Make(Vec<String>),
}

/// The machine that is changed. Everything that changes anything goes through here, so that a kill can be tried at
/// each place.
pub trait System {
    /// The state of a target.
    ///
    /// # Errors
    /// If it cannot be determined.
    fn read(&self, target: &Target) -> Result<TargetState, TargetError>;

    /// Gives a target a state. A file is replaced as a whole or not at all, and is on the disk afterwards.
    ///
    /// # Errors
    /// If it was refused; the state may then be what it was, or something else.
    fn write(&self, target: &Target, state: &TargetState) -> Result<(), TargetError>;

    /// Runs a command of the system and waits for it.
    ///
    /// # Errors
    /// If it cannot be started, or reports that it failed.
    fn run(&self, command: &[String]) -> Result<(), TargetError>;

    /// Whether there is such a command.
    fn has_command(&self, name: &str) -> bool;

    /// The same machine's files, to read.
    fn tree(&self) -> whylate_host::FsRoot;

    /// Removes what a [`System::write`] of this target that was cut off has left beside it.
    ///
    /// # Errors
    /// If something is there and stays.
    fn tidy(&self, _cell: &Target) -> Result<(), TargetError> {
        Ok(())
    }

    /// When a target was last changed, where the system keeps that: of a file on a disk.
    fn changed(&self, _cell: &Target) -> Option<Timestamp> {
        None
    }
}

/// Why a target could not be read or set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {tried} {target}: {why}")]
pub struct TargetError {
    /// `read`, `set`, `run`.
    pub tried: &'static str,
    /// What.
    pub target: String,
    /// Why not, and what to do where that is known.
    pub why: String,
    /// There is nothing to set and nothing to put back: the thread ended, the kernel itself holds the thread or
    /// the interrupt where it is, or another root has no such thing.
    pub gone: bool,
}

impl TargetError {
    /// That something was tried on a target and did not work.
    pub fn new(tried: &'static str, target: impl fmt::Display, why: impl fmt::Display) -> TargetError {
        TargetError { tried, target: target.to_string(), why: why.to_string(), gone: false }
    }

    /// The same, where nothing is there to be changed.
    #[must_use]
    pub fn gone(self) -> TargetError {
        TargetError { gone: true, ..self }
    }
}

/// What a person is shown of a state: a value as it is, a file by its length.
impl fmt::Display for TargetState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetState::Absent => f.write_str("absent"),
            TargetState::Value(value) if value.is_empty() => f.write_str("(empty)"),
            TargetState::Value(value) => f.write_str(value),
            TargetState::File(file) => {
                write!(
                    f,
                    "{} bytes, mode {:o}, owner {}:{}",
                    file.content.len(),
                    file.mode,
                    file.uid,
                    file.gid
                )
            }
            TargetState::Link { target } => write!(f, "link to {target}"),
            TargetState::Directory { mode, uid, gid } => {
                write!(f, "directory, mode {mode:o}, owner {uid}:{gid}")
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Tunable { path }
            | Target::Group { path }
            | Target::File { path }
            | Target::Directory { path } => f.write_str(path),
            Target::ThreadPolicy { thread } => write!(f, "policy of {thread}"),
            Target::ThreadCpus { thread } => write!(f, "CPUs of {thread}"),
            Target::UnitActive { unit } => write!(f, "state of {unit}"),
        }
    }
}
