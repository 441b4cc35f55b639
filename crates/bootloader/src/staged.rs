//! Edits of files that are staged: later ones see the earlier ones, and nothing is written.

use crate::files::{FileEntry, FileError, FileState, Files, LONGEST_FILE};
use crate::path::{joined, parent};

/// More links than this in a row are a circle (as in path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Why an edit cannot be staged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not UTF-8.
    #[error("cannot change {path}: it is not text (UTF-8); change it by hand")]
    NotText {
        /// Its path.
        path: String,
    },
    /// The file would be too long for a journal.
    #[error("cannot write {path}: it would be longer than {} MiB, the limit of a journal", LONGEST_FILE >> 20)]
    TooLong {
        /// Its path.
        path: String,
    },
    /// Something else is at the path, or its links lead in a circle.
    #[error("cannot change {path}: it is not a regular file; look at what it is")]
    NotAFile {
        /// Its path.
        path: String,
    },
}

/// One edit of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedEdit {
    /// Absolute.
    pub path: String,
    /// What becomes of it.
    pub change: FileChange,
    /// A command to run after the edit, and again after its undo: `systemctl daemon-reload`.
    pub notify: Option<Vec<String>>,
    /// The settings that the edit is for, by name.
    pub settings: Vec<String>,
}

/// What becomes of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// It is replaced as a whole.
    Set(FileEntry),
    /// A command makes it from other files: `update-grub`.
    Regenerate(Vec<String>),
}

/// The edits so far.
pub struct StagedEdits<'a> {
    files: &'a dyn Files,
    edits: Vec<StagedEdit>,
}

impl<'a> StagedEdits<'a> {
    /// No edits yet.
    pub fn new(files: &'a dyn Files) -> StagedEdits<'a> {
        StagedEdits { files, edits: Vec::new() }
    }

    /// What would be at a path by now.
    fn entry(&self, path: &str) -> Result<FileEntry, FileError> {
        match self.edits.iter().rev().find(|edit| edit.path == path).map(|edit| &edit.change) {
            Some(FileChange::Set(entry)) => Ok(entry.clone()),
            _ => self.files.entry(path),
        }
    }

    /// The path behind all links: an edit never replaces a link by its file.
    ///
    /// # Errors
    /// If a path on the way cannot be read, or is not a file.
    pub fn resolved(&self, path: &str) -> Result<String, StageError> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            match self.entry(&path)? {
                FileEntry::Link { target } => path = joined(&path, &target),
                FileEntry::File(_) | FileEntry::Absent => return Ok(path),
                FileEntry::Directory { .. } => break,
            }
        }
        Err(StageError::NotAFile { path })
    }

    /// The text of a file; `None`: there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    pub fn text(&self, path: &str) -> Result<Option<String>, StageError> {
        let path = self.resolved(path)?;
        match self.entry(&path)? {
            FileEntry::File(file) => {
                String::from_utf8(file.content).map(Some).map_err(|_| StageError::NotText { path })
            }
            _ => Ok(None),
        }
    }

    /// The target of the link at a path, as it is written.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn link_at(&self, path: &str) -> Result<Option<String>, StageError> {
        match self.entry(path)? {
            FileEntry::Link { target } => Ok(Some(target)),
            _ => Ok(None),
        }
    }

    /// Whether there is anything at a path.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn exists(&self, path: &str) -> Result<bool, StageError> {
        Ok(self.entry(path)? != FileEntry::Absent)
    }

    /// Gives a file a text; mode and owner stay. A new one is readable by all.
    ///
    /// # Errors
    /// As [`StagedEdits::write_bytes`].
    pub fn write(&mut self, path: &str, text: String) -> Result<(), StageError> {
        self.write_bytes(path, text.into_bytes(), 0o644)
    }

    /// The same with any bytes, and the mode of a new file.
    ///
    /// # Errors
    /// If the path cannot be read, is not a file, or the bytes are too many.
    pub fn write_bytes(&mut self, path: &str, content: Vec<u8>, mode: u32) -> Result<(), StageError> {
        // Refused here: to find out when it is read back would be after it was written.
        if content.len() as u64 > LONGEST_FILE {
            return Err(StageError::TooLong { path: path.to_owned() });
        }
        let path = self.resolved(path)?;
        let file = match self.entry(&path)? {
            FileEntry::File(file) => FileState { content, ..file },
            _ => {
                let (uid, gid) = self.directory(parent(&path))?;
                FileState { content, mode, uid, gid }
            }
        };
        self.set(&path, FileEntry::File(file))
    }

    /// Makes a symbolic link, in place of one that may be there.
    ///
    /// # Errors
    /// If a path cannot be read, or a directory above is none.
    pub fn link(&mut self, path: &str, target: &str) -> Result<(), StageError> {
        self.directory(parent(path))?;
        self.set(path, FileEntry::Link { target: target.to_owned() })
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn remove(&mut self, path: &str) -> Result<(), StageError> {
        self.set(path, FileEntry::Absent)
    }

    fn set(&mut self, path: &str, entry: FileEntry) -> Result<(), StageError> {
        if self.entry(path)? != entry {
            let change = FileChange::Set(entry);
            // A file that is changed twice is written once.
            match self.edits.iter_mut().find(|edit| edit.path == path) {
                Some(earlier) => earlier.change = change,
                None => self.push(path, change),
            }
        }
        Ok(())
    }

    /// Has a command make a file.
    pub fn regenerate(&mut self, path: String, command: Vec<String>) {
        self.push(&path, FileChange::Regenerate(command));
    }

    /// The number of edits, to name those that come after.
    pub fn mark(&self) -> usize {
        self.edits.len()
    }

    /// The edits after a mark are for these settings, and `notify` runs after each.
    pub fn label(&mut self, mark: usize, settings: &[String], notify: Option<&[&str]>) {
        for edit in self.edits.iter_mut().skip(mark) {
            edit.settings = settings.to_vec();
            edit.notify = notify.map(|words| words.iter().map(|&word| word.to_owned()).collect());
        }
    }

    /// The edits, in the order in which they are to be made.
    pub fn into_edits(self) -> Vec<StagedEdit> {
        self.edits
    }

    fn push(&mut self, path: &str, change: FileChange) {
        self.edits.push(StagedEdit { path: path.to_owned(), change, notify: None, settings: Vec::new() });
    }

    /// The owner of a directory, which is made where it does not exist.
    fn directory(&mut self, path: &str) -> Result<(u32, u32), StageError> {
        if path == "/" {
            return Ok((0, 0));
        }
        match self.entry(path)? {
            FileEntry::Directory { uid, gid, .. } => Ok((uid, gid)),
            FileEntry::Absent => {
                let (uid, gid) = self.directory(parent(path))?;
                self.push(path, FileChange::Set(FileEntry::Directory { mode: 0o755, uid, gid }));
                Ok((uid, gid))
            }
            _ => Err(StageError::NotAFile { path: path.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::FsRoot;

    /// A machine with /etc and nothing in it.
    struct Empty;

    impl Files for Empty {
        fn entry(&self, path: &str) -> Result<FileEntry, FileError> {
            Ok(match path {
                "/etc" => FileEntry::Directory { mode: 0o755, uid: 0, gid: 0 },
                _ => FileEntry::Absent,
            })
        }

        fn has_command(&self, _name: &str) -> bool {
            false
        }

        fn tree(&self) -> FsRoot {
            FsRoot::memory(&[])
        }
    }

    #[test]
    fn a_file_too_long_for_a_journal_is_refused_before_anything_is_written() {
        let mut staged = StagedEdits::new(&Empty);
        // Never touched, so that it takes no memory.
        let long = vec![0; usize::try_from(LONGEST_FILE + 1).expect("an address")];
        let refused = staged.write_bytes("/usr/local/sbin/x", long, 0o755).expect_err("too long");
        assert!(refused.to_string().contains("longer than 256 MiB"), "{refused}");
        assert!(staged.into_edits().is_empty());
    }

    #[test]
    fn a_file_that_is_written_twice_is_one_edit_after_its_directory() {
        let mut staged = StagedEdits::new(&Empty);
        staged.write("/etc/x.d/a", "one".to_owned()).expect("staged");
        staged.write("/etc/x.d/a", "two".to_owned()).expect("staged");
        assert_eq!(staged.text("/etc/x.d/a").expect("text").as_deref(), Some("two"));
        let paths: Vec<String> = staged.into_edits().into_iter().map(|edit| edit.path).collect();
        assert_eq!(paths, ["/etc/x.d", "/etc/x.d/a"]);
    }
}
