//! The directory of a boot on this host: removed with its value, and by a later boot where its program was killed.

use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;

const PREFIX: &str = "whylate-lab-";
/// Within it, held (flock(2)) for as long as the program that made it runs.
const OWNER: &str = "owner";

/// See the module.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    _owner: File,
}

impl Scratch {
    /// A new one in `parent`, a directory for temporary files. Those that killed programs left there are removed.
    pub(crate) fn new_in(parent: &Path) -> io::Result<Scratch> {
        remove_left(parent);
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let owner = File::create_new(directory.path().join(OWNER))?;
        rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Scratch { directory, _owner: owner })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes this user's directories that no program holds. What cannot be removed stays.
fn remove_left(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            // Not that behind a link.
            && fs::symlink_metadata(entry.path()).is_ok_and(|what| what.is_dir() && what.uid() == user);
        // Without the file it was made just now, or by an earlier version.
        let Ok(owner) = File::open(entry.path().join(OWNER)) else { continue };
        if is_ours && rustix::fs::flock(&owner, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_runs_is_not() {
        let parent = tempfile::tempdir().expect("temporary directory");
        let runs = Scratch::new_in(parent.path()).expect("a directory");
        let left = parent.path().join("whylate-lab-left");
        let [unknown, other] = ["whylate-lab-old", "other"].map(|name| parent.path().join(name));
        for directory in [&left, &unknown, &other] {
            fs::create_dir(directory).expect("a directory");
        }
        fs::write(left.join(OWNER), "").expect("a file");
        fs::write(other.join(OWNER), "").expect("a file");
        let later = Scratch::new_in(parent.path()).expect("a directory");
        assert!(!left.exists());
        assert!([runs.path(), later.path(), &unknown, &other].iter().all(|path| path.exists()));
        let gone = later.path().to_owned();
        drop(later);
        assert!(!gone.exists());
    }
}
