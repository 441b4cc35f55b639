//! The files of a machine as the staged edits see them.

use std::fmt;
use whylate_host::FsRoot;

/// No file that is changed is longer, in bytes, and no file of a journal: the longest is a copy of this program, with
/// all of its debug information.
pub const LONGEST_FILE: u64 = 256 << 20;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEntry {
    /// Nothing.
    Absent,
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

/// A whole regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Its bytes.
    pub content: Vec<u8>,
    /// Permission bits, `0o644`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

/// The machine whose files are to be edited; nothing is written through it.
pub trait Files {
    /// What is at a path. The directories above may be links, the entry itself is not followed.
    ///
    /// # Errors
    /// If it cannot be read.
    fn entry(&self, path: &str) -> Result<FileEntry, FileError>;

    /// Whether the running machine has such a command.
    fn has_command(&self, name: &str) -> bool;

    /// The same files, to read with links followed.
    fn tree(&self) -> FsRoot;
}

/// Why a path could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {path}: {why}")]
pub struct FileError {
    /// The path.
    pub path: String,
    /// The reason, and what to do where that is known.
    pub why: String,
}

impl FileError {
    /// That a path could not be read.
    pub fn new(path: impl Into<String>, why: impl fmt::Display) -> FileError {
        FileError { path: path.into(), why: why.to_string() }
    }
}
