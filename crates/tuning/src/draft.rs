//! Changes of files that are being thought out: later ones see the earlier ones, and nothing is written. In the end
//! they are steps.

use crate::cell::LONGEST_FILE;
use crate::{Action, Cell, CellError, FileState, State, Step, System};

/// More links than this in a row are a circle (as in path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Why a file cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// It cannot be read.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// It holds what is no UTF-8.
    #[error("cannot change {path}: it is not text (UTF-8); change it by hand")]
    NotText {
        /// Which.
        path: String,
    },
    /// It would be too long to be kept in a journal.
    #[error("cannot write {path}: it would be longer than {} MiB, which no journal keeps", LONGEST_FILE >> 20)]
    TooLong {
        /// Which.
        path: String,
    },
    /// It is something else, or links lead in a circle.
    #[error("cannot change {path}: it is no regular file; look at what it is")]
    NotAFile {
        /// Which.
        path: String,
    },
}

/// The steps so far.
pub(crate) struct Draft<'a> {
    system: &'a dyn System,
    steps: Vec<Step>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(system: &'a dyn System) -> Draft<'a> {
        Draft { system, steps: Vec::new() }
    }

    /// The state of a cell, as it would be by now.
    fn state(&self, cell: &Cell) -> Result<State, CellError> {
        let drafted = self.steps.iter().rev().find(|step| step.cell == *cell);
        match drafted.map(|step| &step.action) {
            Some(Action::Set(state)) => Ok(state.clone()),
            _ => self.system.read(cell),
        }
    }

    /// Where a path leads in the end: what is changed is never a link to it.
    pub(crate) fn resolved(&self, path: &str) -> Result<String, DraftError> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            match self.state(&Cell::File { path: path.clone() })? {
                State::Link { target } => path = joined(&path, &target),
                State::File(_) | State::Absent => return Ok(path),
                _ => break,
            }
        }
        Err(DraftError::NotAFile { path })
    }

    /// Whether there is such a cell to be read at all: units are of a running machine.
    pub(crate) fn can_tell(&self, cell: &Cell) -> Result<bool, DraftError> {
        match self.state(cell) {
            Ok(_) => Ok(true),
            Err(error) if error.gone => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The text of a file; `None`: there is none.
    pub(crate) fn text(&self, path: &str) -> Result<Option<String>, DraftError> {
        let path = self.resolved(path)?;
        match self.state(&Cell::File { path: path.clone() })? {
            State::File(file) => {
                String::from_utf8(file.content).map(Some).map_err(|_| DraftError::NotText { path })
            }
            _ => Ok(None),
        }
    }

    /// The link at a path, as it is written.
    pub(crate) fn link_at(&self, path: &str) -> Result<Option<String>, DraftError> {
        match self.state(&Cell::File { path: path.to_owned() })? {
            State::Link { target } => Ok(Some(target)),
            _ => Ok(None),
        }
    }

    /// Whether there is anything at a path.
    pub(crate) fn is_there(&self, path: &str) -> Result<bool, DraftError> {
        Ok(self.state(&Cell::File { path: path.to_owned() })? != State::Absent)
    }

    /// Gives a file a text; mode and owner stay. A new one is readable by all.
    pub(crate) fn write(&mut self, path: &str, text: String) -> Result<(), DraftError> {
        self.write_bytes(path, text.into_bytes(), 0o644)
    }

    /// The same with any bytes, and the mode of a new file.
    pub(crate) fn write_bytes(&mut self, path: &str, content: Vec<u8>, mode: u32) -> Result<(), DraftError> {
        // To find out when it is read back would be after it was written.
        if content.len() as u64 > LONGEST_FILE {
            return Err(DraftError::TooLong { path: path.to_owned() });
        }
        let path = self.resolved(path)?;
        let cell = Cell::File { path };
        let state = match self.state(&cell)? {
            State::File(file) => FileState { content, ..file },
            _ => {
                let (uid, gid) = self.home(parent(cell_path(&cell)))?;
                FileState { content, mode, uid, gid }
            }
        };
        self.set(cell, State::File(state))
    }

    /// Makes a symbolic link, in place of one that may be there.
    pub(crate) fn link(&mut self, path: &str, target: &str) -> Result<(), DraftError> {
        self.home(parent(path))?;
        self.set(Cell::File { path: path.to_owned() }, State::Link { target: target.to_owned() })
    }

    /// Takes a file or a link away.
    pub(crate) fn remove(&mut self, path: &str) -> Result<(), DraftError> {
        self.set(Cell::File { path: path.to_owned() }, State::Absent)
    }

    /// Gives any cell a state.
    pub(crate) fn set(&mut self, cell: Cell, state: State) -> Result<(), DraftError> {
        if self.state(&cell)? != state {
            // A file that is changed twice is written once; what else happens twice has its reason.
            let earlier = self.steps.iter_mut().find(|step| step.cell == cell && !cell.is_of_boot());
            match earlier {
                Some(step) => step.action = Action::Set(state),
                None => self.push(cell, Action::Set(state)),
            }
        }
        Ok(())
    }

    /// Has a cell made by a command.
    pub(crate) fn make(&mut self, cell: Cell, command: Vec<String>) {
        self.push(cell, Action::Make(command));
    }

    /// How many steps there are, to name those that come after.
    pub(crate) fn mark(&self) -> usize {
        self.steps.len()
    }

    /// The steps after a mark are for these settings, and `tell` runs after each.
    pub(crate) fn label(&mut self, mark: usize, settings: &[String], tell: Option<&[&str]>) {
        for step in self.steps.iter_mut().skip(mark) {
            step.settings = settings.to_vec();
            step.tell = tell.map(|words| words.iter().map(|&word| word.to_owned()).collect());
        }
    }

    pub(crate) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn push(&mut self, cell: Cell, action: Action) {
        self.steps.push(Step { cell, action, tell: None, settings: Vec::new() });
    }

    /// The owner of a directory, which is made where it is not there.
    fn home(&mut self, path: &str) -> Result<(u32, u32), DraftError> {
        if path == "/" {
            return Ok((0, 0));
        }
        let cell = Cell::Directory { path: path.to_owned() };
        match self.state(&cell)? {
            State::Directory { uid, gid, .. } => Ok((uid, gid)),
            State::Absent => {
                let (uid, gid) = self.home(parent(path))?;
                self.push(cell, Action::Set(State::Directory { mode: 0o755, uid, gid }));
                Ok((uid, gid))
            }
            _ => Err(DraftError::NotAFile { path: path.to_owned() }),
        }
    }
}

fn cell_path(cell: &Cell) -> &str {
    match cell {
        Cell::File { path } => path,
        _ => "/",
    }
}

/// The directory a path is in.
pub(crate) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((directory, _)) => directory,
    }
}

/// Where a link leads that is at `path`.
pub(crate) fn joined(path: &str, target: &str) -> String {
    let whole = match target.starts_with('/') {
        true => target.to_owned(),
        false => format!("{}/{target}", parent(path)),
    };
    normal(&whole)
}

/// A path without `.`, `..` and doubled slashes, links not looked at.
pub(crate) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_journal_would_keep_is_refused_before_anything_is_written() {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join("etc")).expect("a root has one");
        let system = crate::Live::open(root.path()).expect("a root");
        let mut draft = Draft::new(&system);
        // Never touched, so that it takes no memory.
        let long = vec![0; usize::try_from(LONGEST_FILE + 1).expect("an address")];
        let refused = draft.write_bytes("/usr/local/sbin/x", long, 0o755).expect_err("too long");
        assert!(refused.to_string().contains("longer than 256 MiB"), "{refused}");
        assert!(draft.into_steps().is_empty());
    }

    #[test]
    fn links_lead_somewhere() {
        for (path, target, leads) in [
            ("/etc/grub2.cfg", "../boot/grub2/grub.cfg", "/boot/grub2/grub.cfg"),
            ("/boot/grub2/grubenv", "/boot/efi/EFI/x/grubenv", "/boot/efi/EFI/x/grubenv"),
            ("/a", "b", "/b"),
            ("/a", "../../b", "/b"),
        ] {
            assert_eq!(joined(path, target), leads);
        }
    }
}
