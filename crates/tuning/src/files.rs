//! Between steps and the staged edits of files: the machine that edits read, and the steps that make them.

use crate::{ApplyStep, StepAction, System, Target, TargetError, TargetState};
use whylate_bootloader::{FileChange, FileEntry, FileError, Files, StagedEdit};
use whylate_host::FsRoot;

/// The files of a machine.
pub(crate) struct SystemFiles<'a>(pub(crate) &'a dyn System);

impl Files for SystemFiles<'_> {
    fn entry(&self, path: &str) -> Result<FileEntry, FileError> {
        let state = self.0.read(&Target::File { path: path.to_owned() });
        match state.map_err(|TargetError { target, why, .. }| FileError::new(target, why))? {
            TargetState::Absent => Ok(FileEntry::Absent),
            TargetState::File(file) => Ok(FileEntry::File(file)),
            TargetState::Link { target } => Ok(FileEntry::Link { target }),
            TargetState::Directory { mode, uid, gid } => Ok(FileEntry::Directory { mode, uid, gid }),
            TargetState::Value(_) => Err(FileError::new(path, "it is not a file")),
        }
    }

    fn has_command(&self, name: &str) -> bool {
        self.0.has_command(name)
    }

    fn tree(&self) -> FsRoot {
        self.0.tree()
    }
}

impl From<StagedEdit> for ApplyStep {
    fn from(edit: StagedEdit) -> ApplyStep {
        let StagedEdit { path, change, notify, settings } = edit;
        let (target, action) = match change {
            FileChange::Set(FileEntry::Directory { mode, uid, gid }) => {
                (Target::Directory { path }, StepAction::Set(TargetState::Directory { mode, uid, gid }))
            }
            FileChange::Set(FileEntry::Absent) => {
                (Target::File { path }, StepAction::Set(TargetState::Absent))
            }
            FileChange::Set(FileEntry::File(file)) => {
                (Target::File { path }, StepAction::Set(TargetState::File(file)))
            }
            FileChange::Set(FileEntry::Link { target }) => {
                (Target::File { path }, StepAction::Set(TargetState::Link { target }))
            }
            FileChange::Regenerate(command) => (Target::File { path }, StepAction::Make(command)),
        };
        ApplyStep { target, action, notify, settings, optional: false }
    }
}
