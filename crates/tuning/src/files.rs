//! Between steps and the staged edits of files: the machine that edits read, and the steps that make them.

use crate::{Action, Cell, CellError, State, Step, System};
use whylate_bootloader::{FileChange, FileEntry, FileError, Files, StagedEdit};
use whylate_host::Tree;

/// The files of a machine.
pub(crate) struct SystemFiles<'a>(pub(crate) &'a dyn System);

impl Files for SystemFiles<'_> {
    fn entry(&self, path: &str) -> Result<FileEntry, FileError> {
        let state = self.0.read(&Cell::File { path: path.to_owned() });
        match state.map_err(|CellError { cell, why, .. }| FileError::new(cell, why))? {
            State::Absent => Ok(FileEntry::Absent),
            State::File(file) => Ok(FileEntry::File(file)),
            State::Link { target } => Ok(FileEntry::Link { target }),
            State::Directory { mode, uid, gid } => Ok(FileEntry::Directory { mode, uid, gid }),
            State::Value(_) => Err(FileError::new(path, "it is not a file")),
        }
    }

    fn has_command(&self, name: &str) -> bool {
        self.0.has_command(name)
    }

    fn tree(&self) -> Tree {
        self.0.tree()
    }
}

impl From<StagedEdit> for Step {
    fn from(edit: StagedEdit) -> Step {
        let StagedEdit { path, change, notify, settings } = edit;
        let (cell, action) = match change {
            FileChange::Set(FileEntry::Directory { mode, uid, gid }) => {
                (Cell::Directory { path }, Action::Set(State::Directory { mode, uid, gid }))
            }
            FileChange::Set(FileEntry::Absent) => (Cell::File { path }, Action::Set(State::Absent)),
            FileChange::Set(FileEntry::File(file)) => (Cell::File { path }, Action::Set(State::File(file))),
            FileChange::Set(FileEntry::Link { target }) => {
                (Cell::File { path }, Action::Set(State::Link { target }))
            }
            FileChange::Regenerate(command) => (Cell::File { path }, Action::Make(command)),
        };
        Step { cell, action, tell: notify, settings }
    }
}
