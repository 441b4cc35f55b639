//! The directory of a recording that is examined and then removed.

use super::error::DoctorError;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;
use whylate_ftrace::tracefs::{fresh_name, is_stale};

/// A new directory, removed when it is dropped. Those that killed processes of this user left behind are removed first.
///
/// # Errors
/// [`DoctorError::Directory`]
pub(super) fn directory() -> Result<TempDir, DoctorError> {
    let parent = std::env::temp_dir();
    remove_stale(&parent);
    // Its name is its owner's: with random bytes behind it, no later process would know whose it was.
    let name = fresh_name();
    tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(&parent).map_err(DoctorError::Directory)
}

fn remove_stale(parent: &Path) {
    let own = fs::metadata("/proc/self").map(|process| process.uid()).ok();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = || entry.metadata().is_ok_and(|found| found.is_dir() && Some(found.uid()) == own);
        if entry.file_name().to_str().is_some_and(is_stale) && is_ours() {
            // What cannot be removed now is left to the next start.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_killed_process_left_is_removed() {
        let parent = tempfile::tempdir().expect("a directory");
        let own = fresh_name();
        let pid = std::process::id().to_string();
        let of_another = own.replacen(&format!("-{pid}-"), &format!("-{}-", i32::MAX), 1);
        for name in [own.as_str(), of_another.as_str(), "whylate-doctor"] {
            fs::create_dir(parent.path().join(name)).expect("a directory");
            fs::write(parent.path().join(name).join("doctor.dat"), "x").expect("a file");
        }
        remove_stale(parent.path());
        let left = |name: &str| parent.path().join(name).exists();
        assert_eq!((left(&own), left(&of_another), left("whylate-doctor")), (true, false, true));
    }

    #[test]
    fn a_directory_goes_with_its_owner() {
        let one = directory().expect("a directory");
        let path = one.path().to_owned();
        assert!(path.is_dir() && directory().expect("another").path() != path);
        drop(one);
        assert!(!path.exists());
    }
}
