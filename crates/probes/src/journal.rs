//! What was changed, on record for as long as it is: after a kill the next run puts it back.
//!
//! A journal lies in `/run`, in memory, so that it goes with the settings when the machine is switched off.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that is locked while its process lives, with a line for each change: the setting, a blank, what it was.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

/// A setting and what it was.
pub(crate) type Entry = (String, String);

impl Journal {
    /// Opens it, and gives what a run that was killed has left in it. `None`: a living one uses it.
    ///
    /// # Errors
    /// When it cannot be made, locked or read.
    pub(crate) fn open(path: &Path) -> io::Result<Option<(Journal, Vec<Entry>)>> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        // For root alone: with the right to read it another user could hold the lock (flock(2)).
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        // A line without its end was not followed by the change.
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let entries = whole.filter_map(|line| line.split_once(' '));
        let entries = entries.map(|(setting, value)| (setting.to_owned(), value.to_owned())).collect();
        Ok(Some((Journal { path: path.to_owned(), file }, entries)))
    }

    /// Notes what a setting is, before it is changed.
    pub(crate) fn note(&mut self, setting: &str, value: &str) -> io::Result<()> {
        self.file.write_all(format!("{setting} {value}\n").as_bytes())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All is as it was.
    pub(crate) fn close(self) {
        // One that stays has entries that name what is so already.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_there_after_a_kill_and_gone_after_an_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("run/journal");
        let open = || Journal::open(&path).expect("a journal");
        let (mut journal, nothing) = open().expect("not in use");
        assert!(nothing.is_empty() && open().is_none(), "one at a time");
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o7777, 0o600);
        journal.note("osnoise/cpus", "0-3").expect("a line");
        journal.note("osnoise/options", "NO_X").expect("a line");
        journal.file.write_all(b"osnoise/period").expect("half a line");
        drop(journal);
        let (journal, left) = open().expect("its process is gone");
        let entry = |setting: &str, value: &str| (setting.to_owned(), value.to_owned());
        assert_eq!(left, [entry("osnoise/cpus", "0-3"), entry("osnoise/options", "NO_X")]);
        journal.close();
        assert!(!path.exists());
    }
}
