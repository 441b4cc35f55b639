//! The cache of disk images: each is made once, and copied for each machine.
//!
//! ```text
//!  disks/6.1-rt/disk.img     a disk that has been booted once
//!  disks/6.1-rt/recipe       its recipe; another recipe makes another disk
//! ```

use super::build;
use super::recipe::Image;
use crate::LabError;
use crate::kernels::Store;
use crate::made::Made;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

impl Image {
    /// Copies the disk to `to`, for one machine. Makes the image first where the cache does not have it: that takes two minutes and needs root, apt's tools and a mirror.
    ///
    /// # Errors
    /// When it cannot be made or copied, or `stop` became true.
    pub fn copy(&self, store: &Store, to: &Path, stop: &AtomicBool) -> Result<(), LabError> {
        let disk = self.made(store).path(|work, disk| build::build(self, work, disk, stop))?;
        // Holes stay holes; file systems with reflinks copy nothing.
        let mut command = Command::new("cp");
        command.args(["--reflink=auto", "--sparse=always"]).args([&disk, to]);
        whylate_sys::die_with_parent(&mut command);
        let output = command.output().map_err(LabError::tool("cp", "install coreutils"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(self.failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// True where the cache has it.
    pub fn is_cached(&self, store: &Store) -> bool {
        self.made(store).cached().is_some()
    }

    fn made<'a>(&self, store: &'a Store) -> Made<'a> {
        let (directory, recipe) = (self.directory(store), self.recipe());
        Made { store, directory, name: "disk.img", is_whole: Path::is_file, recipe }
    }

    fn directory(&self, store: &Store) -> PathBuf {
        store.root().join("disks").join(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_recipe_is_another_disk() {
        let root = tempfile::tempdir().expect("temporary directory");
        let store = Store::at(root.path());
        let plain = Image::debian(&store, "6.1-rt", &[]).expect("known");
        let more = Image::debian(&store, "6.1-rt", &["tuned"]).expect("known");
        assert_eq!((plain.name(), more.name()), ("6.1-rt".to_owned(), "6.1-rt+tuned".to_owned()));
        assert!(plain.packages().contains(&"linux-image-rt-amd64".to_owned()));
        assert!(Image::debian(&store, "5.4", &[]).is_err());

        let directory = plain.directory(&store);
        std::fs::create_dir_all(&directory).expect("directory");
        std::fs::write(directory.join("disk.img"), "disk").expect("file");
        assert!(!plain.is_cached(&store), "half of it");
        std::fs::write(directory.join("recipe"), plain.recipe()).expect("file");
        assert!(plain.is_cached(&store) && !more.is_cached(&store));
        let copy = root.path().join("copy");
        plain.copy(&store, &copy, &AtomicBool::new(false)).expect("copied");
        assert_eq!(std::fs::read_to_string(copy).expect("file"), "disk");
        std::fs::write(directory.join("recipe"), more.recipe()).expect("file");
        assert!(!plain.is_cached(&store), "made of something else");
    }
}
